import type { Store } from "../../store/mod.ts";
import type { Place } from "../rules/mod.ts";
import { getScrub, type ScrubState } from "./_state.ts";
import { listHealed, listOpenBreaks, type StoredBreak } from "./_stored_breaks.ts";

/** The results of the scrub, as one process remembers them. */
export interface ScrubReport {
  /** Null if there was no pass yet. */
  readonly scrub: ScrubState | null;
  /** The place after the receipts that the scrub has verified. */
  readonly verified: Place;
  /** Breaks by position. */
  readonly breaks: ReadonlyMap<number, StoredBreak>;
  /** Number of breaks that are not among them. */
  readonly moreBreaks: number;
  /** Notes that the stored results may have changed. */
  invalidate(): void;
  /** Reads the stored results if they may have changed. @returns true if it has read them */
  refresh(): Promise<boolean>;
  /** Lists the positions of its breaks that a later pass has found healed. */
  listHealed(): Promise<number[]>;
  /** Removes a break. */
  forget(position: number): void;
}

const MAX_BREAKS = 10_000;

/**
 * Opens the report. A break that it has read stays until it is forgotten, even if its row disappears: whoever
 * can change the database must not be able to hide it.
 */
export function openReport(store: Store): ScrubReport {
  const db = store.asPlatform();
  const breaks = new Map<number, StoredBreak>();
  let isStale = true;
  let scrub: ScrubState | null = null;
  let verified: Place = { position: 0, previousHash: "" };
  let moreBreaks = 0;

  return {
    get scrub() {
      return scrub;
    },
    get verified() {
      return verified;
    },
    get moreBreaks() {
      return moreBreaks;
    },
    breaks,
    invalidate() {
      isStale = true;
    },
    async refresh() {
      if (!isStale) return false;
      isStale = false;
      try {
        const [stored, { first, count }] = await Promise.all([
          getScrub(db),
          listOpenBreaks(db, MAX_BREAKS),
        ]);
        moreBreaks = count - first.length;
        if (stored) {
          const { verified: place, moreBreaks: notStored, ...state } = stored;
          scrub = state;
          verified = place;
          moreBreaks += notStored;
        }
        for (const found of first) breaks.set(found.position, found);
        return true;
      } catch (error) {
        isStale = true;
        throw error;
      }
    },
    listHealed: () => listHealed(db, [...breaks.keys()]),
    forget: (position) => void breaks.delete(position),
  };
}

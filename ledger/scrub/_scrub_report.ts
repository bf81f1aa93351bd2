import type { Store } from "../../store/mod.ts";
import { exportReceipts, listLedgerKeys } from "../receipts/mod.ts";
import type { Break, Place } from "../rules/mod.ts";
import { healedOf, type KeptBreak, openBreaks, readScrub, type ScrubState } from "./_scrub_rows.ts";
import { type LedgerBreak, verifyStoredReceipt } from "./_span.ts";

/** A break that this process has found by itself. */
export interface OwnBreak extends LedgerBreak {
  /** Number of the scrub's pass that was known then. */
  readonly pass: number;
}

/** What the scrub has said, as one process remembers it. */
export interface ScrubReport {
  readonly scrub: ScrubState | null;
  /** The place after what was verified. */
  readonly verified: Place;
  /** It may have changed: the next `read` asks the database. */
  isStale(): void;
  /** @returns whether it asked */
  read(): Promise<boolean>;
  /** Forgets what a later pass has found to be well again, and so has this process. */
  forgetHealed(own: Map<number, OwnBreak>): Promise<void>;
  /** Whether it has said that a position does not hold. */
  said(position: number): boolean;
  /** All breaks: those of the scrub, and others. */
  with(own: ReadonlyMap<number, OwnBreak>, others: OtherBreaks): AllBreaks;
}

/** What is to be added to the breaks that are known one by one. */
export interface OtherBreaks {
  readonly ending: LedgerBreak | undefined;
  /** How many more there are. */
  readonly notKept: number;
  /** Most that are shown. */
  readonly limit: number;
}

/** How many breaks there are, and the first ones. */
export interface AllBreaks {
  readonly breaks: number;
  readonly first: readonly Break[];
}

const MOST_READ = 10_000;

/**
 * Reads what the scrub writes. What it has once said stays, until it says that it has healed, and the receipt holds by
 * what this process sees itself: that the rows of breaks are gone means nothing.
 */
export function openReport(store: Store): ScrubReport {
  let stale = true;
  let scrub: ScrubState | null = null;
  let verified: Place = { position: 0, previousHash: "" };
  let said = new Map<number, KeptBreak>();
  /** How many there are besides those that were said. */
  let more = 0;

  return {
    get scrub() {
      return scrub;
    },
    get verified() {
      return verified;
    },
    isStale() {
      stale = true;
    },

    async read() {
      if (!stale) return false;
      stale = false;
      try {
        const [row, { first, count }] = await Promise.all([
          readScrub(store.asPlatform()),
          openBreaks(store.asPlatform(), MOST_READ),
        ]);
        if (row) {
          const { verified: through, moreBreaks: _, ...rest } = row;
          [scrub, verified] = [rest, through];
        }
        more = count - first.length + (row?.moreBreaks ?? 0);
        said = new Map([...said, ...first.map((found) => [found.position, found] as const)]);
        return true;
      } catch (error) {
        stale = true;
        throw error;
      }
    },

    async forgetHealed(own) {
      if (said.size + own.size === 0) return;
      const healed = await healedOf(store.asPlatform(), [...said.keys()]);
      const passed = [...own].filter(([position, { pass }]) =>
        scrub?.finished_at && scrub.pass > pass && !said.has(position)
      );
      for (const position of new Set([...healed, ...passed.map(([position]) => position)])) {
        if (!await holds(store, position)) continue;
        said.delete(position);
        own.delete(position);
      }
    },

    said: (position) => said.has(position),

    with(own, { ending, notKept, limit }) {
      if (said.size + own.size + more + notKept === 0 && !ending) return { breaks: 0, first: [] };
      const all = new Map<number, Break>([...own, ...said]);
      if (ending && !all.has(ending.position)) all.set(ending.position, ending);
      const first = [...all.values()].sort((a, b) => a.position - b.position).slice(0, limit)
        .map(({ position, reason }) => ({ position, reason }));
      return { breaks: all.size + Math.max(more, notKept), first };
    },
  };
}

/** Whether a receipt is there and holds, after the one before it. */
async function holds(store: Store, position: number): Promise<boolean> {
  const from = Math.max(0, position - 1);
  const rows = await exportReceipts(store, { from, to: position + 1 });
  const row = rows.at(-1);
  if (row?.position !== position || rows.length <= position - from) return false;
  const before = position > 0 ? rows[0] : undefined;
  const at = { position, previousHash: before?.hash ?? "", previousEra: before?.era };
  return verifyStoredReceipt(row, at, await listLedgerKeys(store)).found === undefined;
}

import type { Store } from "../../store/mod.ts";
import { exportReceipts, findStoredKeyBreaks, getHead, listLedgerKeys } from "../receipts/mod.ts";
import type { Break, Place } from "../rules/mod.ts";
import { verifyStoredReceipt } from "./_receipt_check.ts";
import type { ScrubReport } from "./_report.ts";
import type { SpanVerifier } from "./_span_verifier.ts";
import { findStart } from "./_start.ts";
import type { ScrubState } from "./_state.ts";
import type { MarkFile } from "./_verified_mark.ts";
import { type LedgerBreak, ledgerBreak } from "./breaks.ts";

/** The state of the stored chain, as far as it is known. */
export interface ChainState {
  /** Up to `verified_through`; null if it is not known yet, or while the database is unavailable. */
  readonly chain_intact: boolean | null;
  /** Number of positions that do not hold. */
  readonly breaks: number;
  /** Position of the newest verified receipt; -1 if there is none. */
  readonly verified_through: number;
  /** Number of receipts at the last look. */
  readonly total: number;
  /** The first breaks, with their reasons. */
  readonly first_breaks: readonly Break[];
  /** Progress of the scrub; null if there was no pass yet. */
  readonly scrub: ScrubState | null;
  /** False while the database is unavailable. */
  readonly live: boolean;
}

/** The verification of a process: the verified part of the chain, and the breaks. */
export interface Verification {
  /** Verifies what is new. Never rejects. @param onHead called once the size of the chain is known */
  catchUp(onHead: () => void): Promise<void>;
  /** Takes over what the scrub has verified and found, and verifies nothing more. Never rejects. */
  look(): Promise<void>;
  /** Returns the place after the verified part; undefined until everything was verified once. */
  verified(): Place | undefined;
  /** Adds a break that was found elsewhere. */
  addBreak(found: LedgerBreak): void;
  /** Forgets how many breaks are not remembered one by one. */
  resetOverflow(): void;
  isBroken(position: number): boolean;
  state(): ChainState;
  /** Saves the mark. */
  save(options?: { readonly now?: boolean }): Promise<void>;
}

/** The parts that a verification works with. */
export interface VerificationParts {
  readonly store: Store;
  readonly report: ScrubReport;
  readonly mark: MarkFile;
  readonly verifier: SpanVerifier;
  /** Continues after the scrub's verified part at each `catchUp`, not only at the first. */
  readonly followsScrub: boolean;
}

const PAGE = 500;
/** Share of a core until everything stored at the start is verified. */
const SHARE_AT_START = 3 / 4;
const MAX_BREAKS = 10_000;
const MAX_SHOWN = 100;

/** Starts with nothing verified. */
export function openVerification(parts: VerificationParts): Verification {
  const { store, report, mark, verifier, followsScrub } = parts;
  /** Breaks found by this process, each with the scrub's pass at that time. */
  const own = new Map<number, LedgerBreak & { readonly pass: number }>();
  let overflow = 0;
  /** Breaks at the end of the chain when it was last read. */
  let ending: LedgerBreak | undefined;
  /** Published keys without a succession, and the list of keys that they are from, as JSON. */
  let keyBreaks: readonly Break[] = [];
  let checkedKeys = "";
  let place: Place | undefined;
  let isCaughtUp = false;
  let total = 0;
  let live = false;

  function addBreak(found: LedgerBreak): void {
    if (own.size < MAX_BREAKS || own.has(found.position)) {
      own.set(found.position, { ...found, pass: report.scrub?.pass ?? 0 });
    } else overflow++;
  }

  /** Reads how long the chain is and what the scrub has found. @returns the head of the chain, and where to continue */
  async function readStored(onHead: () => void) {
    if (followsScrub) report.invalidate();
    const { size, hash } = await getHead(store);
    const isFresh = await report.refresh();
    [live, total] = [true, size];
    onHead();
    if (isFresh) await forgetHealed();
    if (!place || !isCaughtUp || followsScrub) place = await start(size);
    return { size, hash, from: place };
  }

  async function verifyNew(onHead: () => void): Promise<void> {
    const { size, hash, from } = await readStored(onHead);
    place = from;
    while (place.position < size) {
      const span: { place: Place; breaks: readonly LedgerBreak[] } = await verifier.verify({
        from: place,
        to: size,
        maxReceipts: PAGE,
        share: isCaughtUp ? 1 : SHARE_AT_START,
      });
      span.breaks.forEach(addBreak);
      place = span.place;
      await save();
    }
    ending = compareEnd(place, size, hash);
    await checkKeys();
    isCaughtUp = true;
    await save();
  }

  /** Looks for the succession of the published keys, where these have changed or were wrong. */
  async function checkKeys(): Promise<void> {
    const keys = await listLedgerKeys(store);
    const list = JSON.stringify(keys);
    if (list === checkedKeys && keyBreaks.length === 0) return;
    keyBreaks = await findStoredKeyBreaks(store, keys);
    checkedKeys = list;
  }

  async function start(size: number): Promise<Place> {
    const from = place ?? { position: 0, previousHash: "" };
    const found = await findStart(store, from, size, await mark.read(), report.verified);
    found.breaks.forEach(addBreak);
    return found.place;
  }

  /** Forgets breaks that a later pass has not found again, if this process finds that the receipts hold, too. */
  async function forgetHealed(): Promise<void> {
    if (report.breaks.size + own.size === 0) return;
    const { scrub } = report;
    const passed = [...own.values()]
      .filter(({ pass, position }) =>
        scrub?.finished_at && scrub.pass > pass && !report.breaks.has(position)
      )
      .map(({ position }) => position);
    for (const position of new Set([...await report.listHealed(), ...passed])) {
      if (!await holds(store, position)) continue;
      report.forget(position);
      own.delete(position);
    }
  }

  function allBreaks(): { readonly count: number; readonly breaks: ReadonlyMap<number, Break> } {
    const breaks = new Map<number, Break>([...own, ...report.breaks]);
    for (const one of [...keyBreaks, ...ending ? [ending] : []]) {
      if (!breaks.has(one.position)) breaks.set(one.position, one);
    }
    return { count: breaks.size + Math.max(report.moreBreaks, overflow), breaks };
  }

  async function save(options?: { readonly now?: boolean }): Promise<void> {
    if (place) await mark.save(place, allBreaks().count === 0, options);
  }

  return {
    async catchUp(onHead) {
      try {
        await verifyNew(onHead);
      } catch {
        live = false;
      }
    },
    async look() {
      try {
        await readStored(() => {});
      } catch {
        live = false;
      }
    },
    verified: () => isCaughtUp ? place : undefined,
    addBreak,
    resetOverflow: () => void (overflow = 0),
    isBroken: (position) =>
      own.has(position) || report.breaks.has(position) ||
      keyBreaks.some((key) => key.position <= position),
    save,
    state() {
      const { count, breaks } = allBreaks();
      const isKnown = isCaughtUp || followsScrub && place !== undefined && place.position > 0;
      const isIntact = count > 0 ? false : isKnown ? true : null;
      return {
        chain_intact: live ? isIntact : null,
        breaks: count,
        verified_through: (place?.position ?? 0) - 1,
        total,
        first_breaks: [...breaks.values()]
          .sort((a, b) => a.position - b.position)
          .slice(0, MAX_SHOWN)
          .map(({ position, reason }) => ({ position, reason })),
        scrub: report.scrub,
        live,
      };
    },
  };
}

/** Compares the head of the chain with the verified part. */
function compareEnd(place: Place, size: number, hash: string): LedgerBreak | undefined {
  if (size < place.position) {
    const reason = `Missing, with all after it: there were ${place.position} receipts`;
    return ledgerBreak(size, "missing", reason);
  }
  if (hash === place.previousHash) return undefined;
  const position = Math.max(0, size - 1);
  return ledgerBreak(position, "head", "The head is not the hash of the newest receipt");
}

/** Returns true if a receipt is there, and holds after the one before it. */
async function holds(store: Store, position: number): Promise<boolean> {
  const from = Math.max(0, position - 1);
  const rows = await exportReceipts(store, { from, to: position + 1 });
  const row = rows.at(-1);
  if (row?.position !== position || rows.length <= position - from) return false;
  const before = position > 0 ? rows[0] : undefined;
  const place = { position, previousHash: before?.hash ?? "", previousEra: before?.era };
  return verifyStoredReceipt(row, place, await listLedgerKeys(store)).broken === undefined;
}

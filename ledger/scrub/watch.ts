import { listen, type Store } from "../../store/mod.ts";
import { exportReceipts, getHead, listLedgerKeys } from "../receipts/mod.ts";
import type { Break, Place } from "../rules/mod.ts";
import { openMark } from "./_mark.ts";
import { recheck } from "./_recheck.ts";
import { openReport, type OwnBreak } from "./_scrub_report.ts";
import { replacedKeys } from "./_scrub_ends.ts";
import { SCRUB_CHANNEL, type ScrubState } from "./_scrub_rows.ts";
import { type LedgerBreak, verifyStoredReceipt } from "./_span.ts";
import { openArrivalVerifier } from "./_span_thread.ts";

export type { ScrubState } from "./_scrub_rows.ts";

/** What is known of the stored chain. */
export interface ChainState {
  /** As of `verified_through`; null: it is not known yet, or the database is away. */
  readonly chain_intact: boolean | null;
  /** How many positions do not hold. */
  readonly breaks: number;
  /** Position of the newest receipt that was verified; -1: none. */
  readonly verified_through: number;
  /** Receipts there were at the last look. */
  readonly total: number;
  /** The first breaks, with their reasons. */
  readonly first_breaks: readonly Break[];
  /** How far the scrub is, which verifies all of it again and again; null: none was ever begun. */
  readonly scrub: ScrubState | null;
  /** False while the database is away. */
  readonly live: boolean;
}

/** Verifies each receipt as it comes, and knows what the scrub finds in those before. */
export interface ChainWatch {
  /** What is known now; asks nobody. */
  state(): ChainState;
  /** Whether a receipt is known not to hold. @param position from 0 */
  isBroken(position: number): boolean;
  /** Waits until everything that is stored now has been verified. */
  catchUp(): Promise<ChainState>;
  close(): Promise<void>;
}

const PAGE = 500;
const POLL_MS = 5_000;
/** Least milliseconds between two looks for what was sealed meanwhile: each costs as much as verifying several receipts. */
const PACE_MS = 250;
const MOST_KEPT = 10_000;
const MOST_SHOWN = 100;
/** Of a core, until everything that was there at the start is verified; in a thread that others come before. */
const SHARE_AT_START = 3 / 4;
const GENESIS: Place = { position: 0, previousHash: "" };

/** How the chain is watched. */
export interface WatchOptions {
  /**
   * Verifies only when it is asked whether it has {@linkcode ChainWatch.catchUp}, from where the scrub's verified part
   * ends then, a few minutes back: for processes of which nobody asks that but now and then. Until then it knows nothing.
   */
  readonly onDemand?: boolean;
  /** Verifies all of it again by itself, with such pauses, milliseconds; default: that is left to the scrub. */
  readonly recheckEveryMs?: number;
  /** File in which it keeps how far it has verified, for the next start; default: it keeps nothing. */
  readonly markFile?: string;
  /** Told why that can't be kept or read. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Begins where this process or one before it had verified all, as the mark says that is kept outside of the database;
 * without a mark where the scrub's verified part ends; as far as that is still what it was, or else at the first receipt.
 * From there on it goes by what it has verified itself, and keeps that in memory: whoever changes the database later
 * can't change it.
 */
export async function watchChain(
  store: Store,
  { onDemand = false, recheckEveryMs, markFile, onError = () => {} }: WatchOptions = {},
): Promise<ChainWatch> {
  const end = new AbortController();
  const report = openReport(store);
  const mark = openMark(store, markFile, onError);
  const verifier = openArrivalVerifier(store, end.signal);
  /** Found here, and not by the scrub. */
  const own = new Map<number, OwnBreak>();
  let notKept = 0;
  /** What is wrong with the end of the chain, as of the last look. */
  let ending: LedgerBreak | undefined;
  let place: Place | undefined;
  let caughtUp = false;
  let total = 0;
  let live = false;
  let looked = () => {};
  const firstLook = new Promise<void>((resolve) => looked = resolve);

  async function catchUp(): Promise<void> {
    if (onDemand) report.isStale();
    const { size, hash } = await getHead(store);
    const fresh = await report.read();
    live = true;
    total = size;
    looked();
    if (fresh) await report.forgetHealed(own);
    if (!caughtUp || onDemand) place = await begin(place ?? GENESIS, size);
    if (!place) return;
    while (place.position < size) {
      const { place: next, breaks } = await verifier.verify({
        ...{ from: place, to: size, most: PAGE, share: caughtUp ? 1 : SHARE_AT_START },
      });
      for (const found of breaks) note(found);
      place = next;
      await keep();
    }
    ending = wrongEnd(place, size, hash);
    caughtUp = true;
    await keep();
  }

  /** Takes over what was verified before, where its last receipt is still there and holds. */
  async function begin(place: Place, size: number): Promise<Place> {
    const known = await mark.read();
    const { position, previousHash } = known
      ? { position: known.size, previousHash: known.hash }
      : report.verified;
    if (position <= place.position || !await isStillThere(place)) return place;
    const keys = await listLedgerKeys(store);
    const replaced = known ? replacedKeys(known, keys) : [];
    for (const found of replaced) note(found);
    const from = Math.max(0, position - 2);
    const rows = await exportReceipts(store, { from, to: position });
    const last = rows.at(-1);
    if (last?.position !== position - 1 || last.hash !== previousHash) {
      const reason = "It is not the receipt that was verified at this position";
      note({ position: Math.min(position - 1, size), check: "head", reason, receiptId: null });
      return place;
    }
    if (replaced.length > 0 || known?.whole === false) return place;
    const before = rows.length > 1 ? rows[0] : undefined;
    const at = {
      position: last.position,
      previousHash: before?.hash ?? "",
      previousEra: before?.era,
    };
    const { found, after } = verifyStoredReceipt(last, at, keys);
    if (found) note(found);
    return after;
  }

  /** Whether what was verified here ends as it did then. */
  async function isStillThere({ position, previousHash }: Place): Promise<boolean> {
    if (position === 0) return true;
    const [last] = await exportReceipts(store, { from: position - 1, to: position });
    if (last?.hash === previousHash) return true;
    const reason = "It is not the receipt that was verified at this position";
    note({ position: position - 1, check: "head", reason, receiptId: null });
    return false;
  }

  const keep = async (now = false) => {
    const { breaks } = report.with(own, { ending, notKept, limit: 1 });
    if (place) await mark.keep(place, breaks === 0, { now });
  };

  function note(found: LedgerBreak): void {
    if (own.size < MOST_KEPT || own.has(found.position)) {
      own.set(found.position, { ...found, pass: report.scrub?.pass ?? 0 });
    } else notKept++;
  }

  function state(): ChainState {
    const { breaks, first } = report.with(own, { ending, notKept, limit: MOST_SHOWN });
    const known = breaks > 0 ? false : caughtUp ? true : null;
    return {
      chain_intact: live ? known : null,
      breaks,
      verified_through: (place?.position ?? 0) - 1,
      total,
      first_breaks: first,
      scrub: report.scrub,
      live,
    };
  }

  let running: Promise<void> | undefined;
  let again = false;
  let lastLook = -Infinity;
  const look = () => {
    if (running) {
      again = true;
      return;
    }
    lastLook = performance.now();
    running = catchUp().catch(() => {
      live = false;
    }).finally(() => {
      looked();
      running = undefined;
      if (again && !end.signal.aborted) {
        again = false;
        look();
      }
    });
  };
  /** Looks whenever something was sealed, and tells when it has for the first time. @returns what ends that */
  async function follow(): Promise<() => Promise<void>> {
    let pacing: NodeJS.Timeout | undefined;
    const lookInTime = () => {
      pacing ??= setTimeout(() => {
        pacing = undefined;
        look();
      }, Math.max(0, lastLook + PACE_MS - performance.now())).unref();
    };
    const listener = await listen(store, ["sealoop_sealed", SCRUB_CHANNEL], {
      onNotify(channel) {
        if (channel === SCRUB_CHANNEL) report.isStale();
        lookInTime();
      },
      onConnect() {
        report.isStale();
        look();
      },
    });
    const poll = setInterval(() => {
      report.isStale();
      look();
    }, POLL_MS).unref();
    await firstLook; // or nobody can tell yet whether the database is there
    return async () => {
      clearInterval(poll);
      clearTimeout(pacing);
      await listener.close();
    };
  }
  const unfollow = onDemand ? undefined : await follow();

  const rechecking = recheckEveryMs === undefined ? undefined : recheck(store, {
    everyMs: recheckEveryMs,
    verified: () => caughtUp ? place : undefined,
    onBegin: () => void (notKept = 0),
    onBreak: note,
    signal: end.signal,
  });

  return {
    state,
    isBroken: (position) => own.has(position) || report.said(position),
    async catchUp() {
      await running; // may have begun before what is stored now
      look();
      await running;
      return state();
    },
    async close() {
      end.abort();
      await unfollow?.();
      await Promise.all([running, rechecking, verifier.close()]);
      await keep(true).catch(onError);
    },
  };
}

/** Compares the head with what was verified in this process. */
function wrongEnd(place: Place, size: number, hash: string): LedgerBreak | undefined {
  if (size < place.position) {
    const reason = `Missing, with all after it: there were ${place.position} receipts`;
    return { position: size, check: "missing", reason, receiptId: null };
  }
  if (hash === place.previousHash) return undefined;
  const reason = "The head is not the hash of the newest receipt";
  return { position: Math.max(0, size - 1), check: "head", reason, receiptId: null };
}

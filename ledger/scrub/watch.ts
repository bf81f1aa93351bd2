import { batch, type Store } from "../../store/mod.ts";
import { followChain } from "./_follow.ts";
import { type Recheck, recheck } from "./_recheck.ts";
import { openReport } from "./_report.ts";
import { openThreadedVerifier, openVerifier } from "./_span_verifier.ts";
import { type ChainState, openVerification } from "./_verification.ts";
import { openMark } from "./_verified_mark.ts";

/** Watches the stored chain: verifies new receipts, and knows the breaks that the scrub finds in older ones. */
export interface ChainWatch {
  /** Returns what is known now, without a query. */
  state(): ChainState;
  /** Returns true if a receipt is known not to hold. @param position from 0 */
  isBroken(position: number): boolean;
  /** Returns what is known and, on demand, what the scrub has found until now. Takes a few queries, and verifies nothing. */
  look(): Promise<ChainState>;
  /** Verifies everything that is stored now. */
  catchUp(): Promise<ChainState>;
  close(): Promise<void>;
}

/** Options of {@linkcode watchChain}. */
export interface WatchOptions {
  /**
   * Verifies only in {@linkcode ChainWatch.catchUp}, each time from the end of the scrub's verified part, which is a few
   * minutes old. For processes that are rarely asked; nothing is known before the first call of it or of
   * {@linkcode ChainWatch.look}. By default receipts are verified as they are sealed, in a thread of its own.
   */
  readonly onDemand?: boolean;
  /** Verifies everything again and again, with this pause between two passes. Default: the scrub alone does. */
  readonly recheckEveryMs?: number;
  /** Called after each of these verifications. */
  readonly onRecheck?: (recheck: Recheck) => void;
  /** File that holds the mark of the verified part for the next start. Default: none. */
  readonly markFile?: string;
  /** Receives why the mark cannot be read or written. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Starts to watch the chain.
 *
 * Verification continues after the part that the mark file names, or, without one, after the scrub's verified
 * part, if that part still ends with the same receipt; else at the first receipt. From then on only what this process
 * has verified itself counts: later changes of the database cannot change it.
 */
export async function watchChain(
  store: Store,
  { onDemand = false, recheckEveryMs, onRecheck = () => {}, markFile, onError = () => {} }:
    WatchOptions = {},
): Promise<ChainWatch> {
  const end = new AbortController();
  const { signal } = end;
  const report = openReport(store);
  const verifier = (onDemand ? openVerifier : openThreadedVerifier)(store, signal);
  const mark = openMark(store, markFile, onError);
  const verification = openVerification({
    store,
    report,
    mark,
    verifier,
    followsScrub: onDemand,
  });

  let onHead = () => {};
  const headKnown = new Promise<void>((resolve) => onHead = resolve);
  /** Verifies what is new. Calls during a run share one run after it. */
  const catchUp = batch(async (calls: undefined[]) => {
    if (!signal.aborted) await verification.catchUp(onHead);
    onHead();
    return calls;
  });

  const onChange = () => void catchUp(undefined);
  const unfollow = onDemand
    ? undefined
    : await followChain(store, { onChange, onScrub: report.invalidate });
  if (!onDemand) await headKnown; // until then it is not known whether the database is available

  const rechecking = recheckEveryMs === undefined ? undefined : recheck(verifier, {
    intervalMs: recheckEveryMs,
    verified: verification.verified,
    onBegin: verification.resetOverflow,
    onBreak: verification.addBreak,
    onEnd: onRecheck,
    signal,
  });

  return {
    state: verification.state,
    isBroken: verification.isBroken,
    async look() {
      if (onDemand) await verification.look();
      return verification.state();
    },
    async catchUp() {
      await catchUp(undefined);
      return verification.state();
    },
    async close() {
      end.abort();
      await unfollow?.();
      await Promise.all([catchUp(undefined), rechecking, verifier.close()]);
      await verification.save({ now: true });
    },
  };
}

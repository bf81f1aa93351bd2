import { findGaps, joinRanges, planChunks, type PositionRange, type Tally } from "../checks/mod.ts";
import { describeFailure, FetchError, fetchKeys } from "./fetch.ts";
import type { Pool } from "./pool.ts";

/** The state of a {@linkcode CheckQueue}. */
export interface QueueState {
  readonly running: boolean;
  readonly paused: boolean;
  /** Number of chunks that wait. */
  readonly waiting: number;
  /** Number of receipts that were added. */
  readonly added: number;
  /** Why it does not continue. */
  readonly error: string | undefined;
}

/** Checks ranges of the chain in chunks, in the threads of a pool. */
export interface CheckQueue {
  state(): QueueState;
  /** Adds a range, except receipts that were added before. @param cuts positions at which chunks must end */
  add(from: number, to: number, cuts?: readonly number[]): void;
  /** Moves the chunk that ends at a position to the front. */
  prefer(end: number): void;
  /** Works in all free threads until nothing waits. */
  work(): Promise<void>;
  setPaused(paused: boolean): void;
  setError(error: string | undefined): void;
}

/** Receipts of one chunk; they are fetched and checked together. */
const CHUNK_SIZE = 250;

/** Creates an empty queue. @param onProgress called when the state or the tally has changed */
export function createCheckQueue(pool: Pool, tally: Tally, onProgress: () => void): CheckQueue {
  const queue: { readonly from: number; readonly to: number }[] = [];
  let added: readonly PositionRange[] = [];
  let running = 0;
  let paused = false;
  let error: string | undefined;

  async function runThread(): Promise<void> {
    let chunk: { readonly from: number; readonly to: number } | undefined;
    try {
      const keys = await fetchKeys();
      tally.setKeys(keys.keyProof);
      while (!paused && queue.length > 0) {
        chunk = queue.shift()!;
        const outcome = await pool.run({
          task: { do: "range", ...chunk, wantsLeaves: tally.wantsLeaves() },
          ...keys,
        });
        if (!("range" in outcome)) {
          throw new FetchError("failed" in outcome ? outcome.failed : "The check returned nothing");
        }
        tally.add(outcome.range);
        chunk = undefined;
        onProgress();
      }
    } catch (caught) {
      if (chunk) queue.unshift(chunk);
      error = describeFailure(caught);
    } finally {
      running--;
      onProgress();
    }
  }

  return {
    state: () => ({
      running: running > 0,
      paused,
      waiting: queue.length,
      added: added.reduce((sum, [from, to]) => sum + to - from, 0),
      error,
    }),
    add(from, to, cuts) {
      for (const [start, end] of findGaps(added, to)) {
        if (end > from) queue.push(...planChunks(Math.max(from, start), end, CHUNK_SIZE, cuts));
      }
      added = joinRanges([...added, [from, to]]);
    },
    prefer(end) {
      const index = queue.findLastIndex(({ to }) => to === end);
      if (index > 0) queue.unshift(...queue.splice(index, 1));
    },
    async work() {
      const free = Math.max(0, Math.min(pool.size - running, queue.length));
      running += free;
      await Promise.all(Array.from({ length: free }, runThread));
    },
    setPaused: (value) => void (paused = value),
    setError: (value) => void (error = value),
  };
}

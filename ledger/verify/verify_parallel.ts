import { availableParallelism } from "node:os";
import type { Break, Hash, TrustedKey } from "../rules/mod.ts";
import { startThread } from "../threads/mod.ts";
import type { Run, RunResult } from "./_verify_worker.ts";

/** What a whole chain was found to be. */
export interface ChainVerdict {
  readonly total: number;
  /** One after the last position: `total`, and those that are missing before it. */
  readonly end: number;
  /** How many receipts there are of eras 1, 2 and 3. */
  readonly eras: readonly [number, number, number];
  /** How many do not hold. */
  readonly breaks: number;
  /** The first of them. */
  readonly firstBreaks: readonly Break[];
  /** Hash of the last one, as it says itself; empty where there is none. */
  readonly hash: string;
}

/** How a chain is verified. */
export interface ParallelOptions {
  /** Default: as many as the machine runs at once. */
  readonly threads?: number;
  /** Told how many receipts have been verified. */
  readonly onProgress?: (total: number) => void;
  /** Told of each run's leaves of the Merkle log, in order; of a receipt that has none, 32 bytes of zero. */
  readonly onLeaves?: (leaves: readonly Hash[]) => void;
}

const MOST_BREAKS_KEPT = 100;
/** Runs that a thread is given ahead, so that it never waits for the next. */
const AHEAD = 2;

/**
 * Verifies a chain from its first entry, on all cores: each thread takes a run of receipts with the one before.
 *
 * @param batches JSON texts of receipts as UTF-8, oldest first, as they were exported, byte for byte
 * @param keys in the order in which they came to be trusted
 * @throws whatever the batches throw
 */
export async function verifyInParallel(
  batches: AsyncIterable<readonly Uint8Array[]>,
  keys: readonly TrustedKey[],
  { threads = availableParallelism(), onProgress = () => {}, onLeaves }: ParallelOptions = {},
): Promise<ChainVerdict> {
  const pool = Array.from(
    { length: threads },
    () => startThread<Run, RunResult>(new URL("./_verify_worker.ts", import.meta.url), keys),
  );
  const tellLeaves = onLeaves && inOrder(onLeaves);
  const eras: [number, number, number] = [0, 0, 0];
  const found: Break[] = [];
  const underWay = new Set<Promise<void>>();
  let [position, verified, breaks] = [0, 0, 0];
  let last: Uint8Array | undefined;
  let final: Promise<RunResult> | undefined;
  let failure: { error: unknown } | undefined;
  const note = (result: RunResult, from: number, count: number) => {
    tellLeaves?.(from, result.leaves!);
    result.eras.forEach((n, i) => eras[i]! += n);
    breaks += result.breaks.length;
    found.push(...result.breaks);
    found.sort((a, b) => a.position - b.position).splice(MOST_BREAKS_KEPT);
    onProgress(verified += count);
  };
  try {
    for await (const batch of batches) {
      if (batch.length === 0) continue;
      const thread = pool.reduce((a, b) => b.pendingCount() < a.pendingCount() ? b : a);
      const run = asRun(batch, position, last, onLeaves !== undefined);
      final = thread.ask(run, [run.bytes.buffer as ArrayBuffer, run.ends.buffer as ArrayBuffer]);
      const settled: Promise<void> = final
        .then((result) => note(result, run.position, batch.length))
        .catch((error) => void (failure = { error }))
        .finally(() => underWay.delete(settled));
      underWay.add(settled);
      position += batch.length;
      last = batch.at(-1);
      if (underWay.size >= threads * AHEAD) await Promise.race(underWay);
      if (failure) break;
    }
    await Promise.all(underWay);
    if (failure) throw failure.error;
    const end = (await final)?.place ?? { position, previousHash: "" };
    return {
      ...{ total: position, end: end.position, eras, breaks },
      ...{ firstBreaks: found, hash: end.previousHash },
    };
  } finally {
    await Promise.all(pool.map((thread) => thread.close()));
  }
}

/** All in one piece of memory, which is handed over and not copied. */
function asRun(
  batch: readonly Uint8Array[],
  position: number,
  before: Uint8Array | undefined,
  leaves: boolean,
): Run {
  const parts = before ? [before, ...batch] : batch;
  const ends = new Uint32Array(parts.length);
  let end = 0;
  parts.forEach((part, i) => ends[i] = end += part.length);
  const bytes = new Uint8Array(end);
  parts.forEach((part, i) => bytes.set(part, i === 0 ? 0 : ends[i - 1]));
  return { bytes, ends, position, led: before !== undefined, leaves };
}

/** Puts what comes of runs that end in any order back into theirs. */
function inOrder(tell: (leaves: readonly Hash[]) => void) {
  const early = new Map<number, readonly Hash[]>();
  let next = 0;
  return (position: number, bytes: Uint8Array): void => {
    early.set(
      position,
      Array.from({ length: bytes.length / 32 }, (_, n) => bytes.subarray(32 * n, 32 * n + 32)),
    );
    for (let leaves = early.get(next); leaves; leaves = early.get(next)) {
      early.delete(next);
      next += leaves.length;
      tell(leaves);
    }
  };
}

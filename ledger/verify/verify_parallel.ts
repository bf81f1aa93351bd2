import { availableParallelism } from "node:os";
import { programPath } from "../../config.ts";
import {
  addPlacePositions,
  type Break,
  findKeysWithoutSuccession,
  findPlaceBreaks,
  findUnproven,
  type Hash,
  type IntroducedKey,
  openPlacePositions,
  type TrustedKey,
} from "../rules/mod.ts";
import { packBytes, startThread } from "../threads/mod.ts";
import type { Run, RunResult } from "./_verify_worker.ts";

/** Result of the verification of a whole chain. */
export interface ChainVerdict {
  readonly total: number;
  /** Position after the last receipt: `total`, plus those that are missing. */
  readonly end: number;
  /** Number of receipts of eras 1, 2 and 3. */
  readonly eras: readonly [number, number, number];
  /** Number of positions at which the chain does not hold. */
  readonly breaks: number;
  /** The first of them. */
  readonly firstBreaks: readonly Break[];
  /** Hash of the last receipt, as it claims; empty where there is none. */
  readonly hash: string;
  /** Position from which the keys are not proven by those that the reader knows; undefined: they are. */
  readonly unproven: number | undefined;
}

/** Options of {@linkcode verifyInParallel}. */
export interface ParallelOptions {
  /** Default: the number of cores. */
  readonly threads?: number;
  /** Called with the number of receipts verified so far. */
  readonly onProgress?: (total: number) => void;
  /** Called with leaves of the Merkle log, in order; a receipt that has none gets 32 bytes of zero. */
  readonly onLeaves?: (leaves: readonly Hash[]) => void;
}

const MAX_FIRST_BREAKS = 100;
/** Runs that each thread has in hand, so that it never waits for the next. */
const RUNS_PER_THREAD = 2;

/**
 * Verifies a chain from its first entry, on all cores: each thread verifies runs of receipts, each with the one before.
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
  const program = programPath("ledger/verify/_verify_worker.ts");
  const pool = Array.from({ length: threads }, () => startThread<Run, RunResult>(program, keys));
  const introduced: IntroducedKey[] = [];
  const places = openPlacePositions();
  const addLeaves = onLeaves && openReordering(onLeaves);
  const eras: [number, number, number] = [0, 0, 0];
  const firstBreaks: Break[] = [];
  const underWay = new Set<Promise<void>>();
  let [position, verified, breaks] = [0, 0, 0];
  let previous: Uint8Array | undefined;
  let lastRun: Promise<RunResult> | undefined;
  let failure: { error: unknown } | undefined;

  function addResult(result: RunResult, from: number, count: number): void {
    addLeaves?.(from, result.leaves!);
    result.eras.forEach((n, i) => eras[i]! += n);
    introduced.push(...result.introduced);
    addPlacePositions(places, result.places);
    addBreaks(result.breaks);
    onProgress(verified += count);
  }

  function addBreaks(more: readonly Break[]): void {
    breaks += more.length;
    firstBreaks.push(...more);
    firstBreaks.sort((a, b) => a.position - b.position).splice(MAX_FIRST_BREAKS);
  }

  function start(batch: readonly Uint8Array[]): void {
    const thread = pool.reduce((a, b) => b.pendingCount() < a.pendingCount() ? b : a);
    const run: Run = {
      ...packBytes(previous ? [previous, ...batch] : batch),
      position,
      hasPrevious: previous !== undefined,
      wantsLeaves: onLeaves !== undefined,
    };
    lastRun = thread.ask(run, [run.bytes.buffer, run.ends.buffer]);
    const settled: Promise<void> = lastRun
      .then((result) => addResult(result, run.position, batch.length))
      .catch((error) => void (failure = { error }))
      .finally(() => underWay.delete(settled));
    underWay.add(settled);
    position += batch.length;
    previous = batch.at(-1);
  }

  try {
    for await (const batch of batches) {
      if (batch.length === 0) continue;
      start(batch);
      if (underWay.size >= threads * RUNS_PER_THREAD) await Promise.race(underWay);
      if (failure) break;
    }
    await Promise.all(underWay);
    if (failure) throw failure.error;
    const end = (await lastRun)?.place ?? { position, previousHash: "" };
    addBreaks([...findKeysWithoutSuccession(keys, introduced), ...findPlaceBreaks(places)]);
    return {
      total: position,
      end: end.position,
      eras,
      breaks,
      firstBreaks,
      hash: end.previousHash,
      unproven: findUnproven(keys, introduced, end.position),
    };
  } finally {
    await Promise.all(pool.map((thread) => thread.close()));
  }
}

/** Reorders the leaves of runs, which end in any order. */
function openReordering(tell: (leaves: readonly Hash[]) => void) {
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

import { NODE_PRIMITIVES, sha256 } from "../crypto/mod.ts";
import type { Break, TrustedKey } from "../rules/mod.ts";
import {
  createTreeCheck,
  describeUnproven,
  judgeCheckpoint,
  judgeEras,
  type Judgement,
  mergePins,
  type ShownCheckpoint,
  type Trust,
} from "../trust/mod.ts";
import { type ChainVerdict, type ParallelOptions, verifyInParallel } from "./verify_parallel.ts";

/** The receipts of a ledger, and what it shows beside them. Nothing of it is believed unless nothing is pinned. */
export interface LedgerSource {
  /** Fields of `/api/how-to-verify`. */
  readonly named: Readonly<Record<string, unknown>>;
  /** Keys that it names, else those that its receipts introduce. */
  readonly keys: readonly TrustedKey[];
  readonly checkpoint: ShownCheckpoint;
  /** Returns how many receipts there should be, if the source says so. */
  total(): number | undefined;
  /** Returns how the source contradicts its receipts, if it does, once they are read. */
  contradiction(): string | undefined;
  batches(): AsyncIterable<readonly Uint8Array[]>;
}

/** Verdict on a whole ledger. */
export interface LedgerVerdict extends ChainVerdict, Pick<Judgement, "faults" | "absent"> {
  readonly keys: readonly TrustedKey[];
  /** Sizes of the checkpoints that the receipts match. */
  readonly checkpointSizes: readonly number[];
  /** True where the receipts were not compared with checkpoints, as some are missing. */
  readonly isUncompared: boolean;
}

const NO_BREAKS = { breaks: 0, firstBreaks: [] };

/**
 * Verifies every receipt of a ledger, its end, and its checkpoint.
 *
 * @throws whatever the source throws
 */
export async function verifySource(
  source: LedgerSource,
  trust: Trust,
  options: Pick<ParallelOptions, "threads" | "onProgress"> = {},
): Promise<LedgerVerdict> {
  const keys = mergePins(trust, source.keys);
  const { checkpoints, faults, absent } = judgeCheckpoint(
    trust,
    source.checkpoint,
    NODE_PRIMITIVES,
  );
  const tree = createTreeCheck(checkpoints, sha256);
  const chain = await verifyInParallel(source.batches(), keys, {
    ...options,
    onLeaves: checkpoints.length > 0 ? tree.add : undefined,
  });
  const isWhole = chain.end === chain.total; // else the tree cannot match
  const more: Break[] = [
    ...findWrongEnd(source, chain),
    ...(isWhole ? [...tree.differing(), ...tree.missing()] : []),
  ];
  const eras = judgeEras(trust, chain.eras);
  const hasSigned = chain.eras[1] + chain.eras[2] > 0;
  const contradiction = source.contradiction();
  const keyless = keys.length === 0 && hasSigned
    ? ["Its receipts are signed, and nothing says by which key: pin it"]
    : [];
  // Without a key every receipt looks as if it were signed with a wrong one.
  const found = keyless.length > 0 ? NO_BREAKS : {
    breaks: chain.breaks + more.length,
    firstBreaks: [...chain.firstBreaks, ...more],
  };
  return {
    ...chain,
    ...found,
    keys,
    faults: [...faults, ...eras.faults, ...(contradiction === undefined ? [] : [contradiction])],
    absent: [...absent, ...describeUnproven(trust, chain.unproven), ...eras.absent, ...keyless],
    checkpointSizes: checkpoints.map(({ size }) => size),
    isUncompared: checkpoints.length > 0 && !isWhole,
  };
}

/** Finds an end that is not where the source says it is. */
function findWrongEnd(
  { total }: LedgerSource,
  { end }: ChainVerdict,
): Break[] {
  const expected = total();
  if (expected === undefined || expected === end) return [];
  if (expected > end) {
    return [{ position: end, reason: `Missing: there should be ${expected} receipts` }];
  }
  const reason = `It says that it has ${expected} receipts, and shows ${end}`;
  return [{ position: expected, reason }];
}

/** Returns the exit code of a verdict: 0 everything holds, 1 something does not, 2 nobody can tell. */
export function exitCodeOf({ breaks, faults, absent }: LedgerVerdict): 0 | 1 | 2 {
  if (breaks > 0 || faults.length > 0) return 1;
  return absent.length > 0 ? 2 : 0;
}

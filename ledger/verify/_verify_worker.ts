/** A thread that verifies runs of receipts, one after another. */
import { workerData } from "node:worker_threads";
import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import {
  type Break,
  findPlaceAfter,
  followSpan,
  type IntroducedKey,
  type Place,
  type PlacePositions,
  type TrustedKey,
} from "../rules/mod.ts";
import { answerMessages, type PackedBytes } from "../threads/mod.ts";

/** Consecutive receipts, as UTF-8. */
export interface Run extends PackedBytes {
  /** Position of the first receipt to verify, where none before it is missing. */
  readonly position: number;
  /** True where the receipt before that comes first, for its hash. */
  readonly hasPrevious: boolean;
  /** True where leaves of the Merkle log are wanted. */
  readonly wantsLeaves: boolean;
}

/** Result of a run. */
export interface RunResult {
  readonly breaks: readonly Break[];
  /** Number of receipts of eras 1, 2 and 3. */
  readonly eras: readonly [number, number, number];
  /** The place after the last one. */
  readonly place: Place;
  /** Keys that valid receipts introduce. */
  readonly introduced: readonly IntroducedKey[];
  /** Places that valid receipts name. */
  readonly places: PlacePositions;
  /** Hashes of the leaves, 32 bytes each, where they are wanted; zeros for a receipt that has none. */
  readonly leaves?: Uint8Array;
}

const keys: readonly TrustedKey[] = workerData.data;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function verifyRun({ bytes, ends, position, hasPrevious, wantsLeaves }: Run): RunResult {
  const eras: [number, number, number] = [0, 0, 0];
  const first = hasPrevious ? 1 : 0;
  const leaves = wantsLeaves ? new Uint8Array(32 * (ends.length - first)) : undefined;
  const decode = (n: number) => decodeUtf8(bytes.subarray(ends[n - 1] ?? 0, ends[n]));
  const from = hasPrevious
    ? findPlaceAfter(decode(0) ?? "", position - 1, keys, NODE_PRIMITIVES)
    : { position, previousHash: "" };
  const span = followSpan(from, keys, NODE_PRIMITIVES, { wantsLeaves });
  for (let n = first; n < ends.length; n++) {
    const { era, leaf } = span.add(decode(n));
    if (era) eras[era - 1]!++;
    if (leaf) leaves!.set(leaf, 32 * (n - first));
  }
  const { introduced, places } = span;
  return {
    breaks: span.breaks.map(toBreak),
    eras,
    place: span.place(),
    introduced,
    places,
    leaves,
  };
}

const toBreak = ({ position, reason }: Break): Break => ({ position, reason });

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

answerMessages(verifyRun);

/** A thread that verifies runs of receipts, one after another. */
import { workerData } from "node:worker_threads";
import { computeLeafHash, NODE_PRIMITIVES } from "../crypto/mod.ts";
import {
  type Break,
  findPlaceAfter,
  followRecord,
  type FollowResult,
  type IntroducedKey,
  type Place,
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
  /** Hashes of the leaves, 32 bytes each, where they are wanted; zeros for a receipt that has none. */
  readonly leaves?: Uint8Array;
}

const keys: readonly TrustedKey[] = workerData.data;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function verifyRun({ bytes, ends, position, hasPrevious, wantsLeaves }: Run): RunResult {
  const breaks: Break[] = [];
  const introduced: IntroducedKey[] = [];
  const eras: [number, number, number] = [0, 0, 0];
  const first = hasPrevious ? 1 : 0;
  const leaves = wantsLeaves ? new Uint8Array(32 * (ends.length - first)) : undefined;
  let place = hasPrevious
    ? getPlaceAfter(bytes.subarray(0, ends[0]), position - 1)
    : { position, previousHash: "" };
  for (let n = first; n < ends.length; n++) {
    const record = bytes.subarray(ends[n - 1] ?? 0, ends[n]);
    const followed = follow(record, place);
    introduced.push(...followed.introduced);
    if (followed.fault) breaks.push(followed.fault);
    if (followed.era) eras[followed.era - 1]!++;
    leaves?.set(hashLeafOf(record, followed.position), 32 * (n - first));
    place = followed.next;
  }
  return { breaks, eras, place, introduced, leaves };
}

/** Returns zeros where the bytes are no record: that is reported as a break, and no root fits them. */
function hashLeafOf(record: Uint8Array, position: number): Uint8Array {
  try {
    const text = utf8.decode(record);
    return computeLeafHash({ position, id: String(JSON.parse(text).id), text });
  } catch {
    return new Uint8Array(32);
  }
}

function follow(bytes: Uint8Array, place: Place): FollowResult {
  const text = decode(bytes);
  if (text !== undefined) return followRecord(text, place, keys, NODE_PRIMITIVES);
  const { position, previousEra } = place;
  return {
    position,
    fault: { position, reason: "It is not UTF-8" },
    era: previousEra,
    next: { position: position + 1, previousHash: "", previousEra },
    introduced: [],
  };
}

function getPlaceAfter(bytes: Uint8Array, position: number): Place {
  const text = decode(bytes);
  if (text === undefined) return { position: position + 1, previousHash: "" };
  return findPlaceAfter(text, position, keys, NODE_PRIMITIVES);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

answerMessages(verifyRun);

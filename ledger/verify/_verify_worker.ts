/** A thread that verifies a run of receipts at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { computeLeafHash, NODE_PRIMITIVES } from "../crypto/mod.ts";
import {
  type Break,
  findPlaceAfter,
  followRecord,
  type FollowResult,
  type Place,
  type TrustedKey,
} from "../rules/mod.ts";

/** Receipts that follow each other. */
export interface Run {
  /** Their texts as UTF-8, one after the other. */
  readonly bytes: Uint8Array;
  /** Where each ends. */
  readonly ends: Uint32Array;
  /** Position of the first one whose verdict is wanted, where none before it is missing. */
  readonly position: number;
  /** Whether the one before that stands in front, as what it is linked to. */
  readonly led: boolean;
  /** Whether leaves of the Merkle log are wanted. */
  readonly leaves: boolean;
}

/** What came of a run. */
export interface RunResult {
  readonly breaks: readonly Break[];
  /** How many there are of eras 1, 2 and 3. */
  readonly eras: readonly [number, number, number];
  /** After the last one. */
  readonly place: Place;
  /** Hashes of the leaves, 32 bytes each, where they are wanted; of a receipt that has none, zeros. */
  readonly leaves?: Uint8Array;
}

const keys: readonly TrustedKey[] = workerData.data;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function verifyRun({ bytes, ends, position, led, leaves: wanted }: Run): RunResult {
  const breaks: Break[] = [];
  const eras: [number, number, number] = [0, 0, 0];
  const leaves = wanted ? new Uint8Array(32 * (ends.length - (led ? 1 : 0))) : undefined;
  const first = led ? 1 : 0;
  let place = led
    ? after(bytes.subarray(0, ends[0]), position - 1)
    : { position, previousHash: "" };
  for (let n = first; n < ends.length; n++) {
    const record = bytes.subarray(ends[n - 1] ?? 0, ends[n]);
    const followed = examine(record, place);
    if (followed.found) breaks.push(followed.found);
    if (followed.era) eras[followed.era - 1]!++;
    leaves?.set(leafFrom(record, followed.position), 32 * (n - first));
    place = followed.next;
  }
  return { breaks, eras, place, leaves };
}

/** Zeros where the record is none; that has been reported, and no root fits it. */
function leafFrom(record: Uint8Array, position: number): Uint8Array {
  try {
    const text = utf8.decode(record);
    return computeLeafHash({ position, id: String(JSON.parse(text).id), text });
  } catch {
    return new Uint8Array(32);
  }
}

function examine(bytes: Uint8Array, place: Place): FollowResult {
  const text = decoded(bytes);
  if (text !== undefined) return followRecord(text, place, keys, NODE_PRIMITIVES);
  const { position, previousEra } = place;
  return {
    position,
    found: { position, reason: "It is not UTF-8" },
    era: previousEra,
    next: { position: position + 1, previousHash: "", previousEra },
  };
}

function after(bytes: Uint8Array, position: number): Place {
  const text = decoded(bytes);
  if (text === undefined) return { position: position + 1, previousHash: "" };
  return findPlaceAfter(text, position, keys, NODE_PRIMITIVES);
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

parentPort!.on("message", (run: Run) => parentPort!.postMessage(verifyRun(run)));

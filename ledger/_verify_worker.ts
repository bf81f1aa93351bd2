/** A thread that verifies a run of receipts at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { type Break, type Era, type Place, type TrustedKey, verifyRecord } from "./rules.ts";
import { leafHashOf } from "./log_hashes.ts";
import { NATIVE } from "./verify.ts";

/** Receipts that follow each other. */
export interface Run {
  /** Their texts as UTF-8, one after the other. */
  readonly bytes: Uint8Array;
  /** Where each ends. */
  readonly ends: Uint32Array;
  /** Position of the first one whose verdict is wanted. */
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
  /** What the last one says is its hash. */
  readonly hash: string;
  /** Hashes of the leaves, 32 bytes each, where they are wanted; of a receipt that has none, zeros. */
  readonly leaves?: Uint8Array;
}

const keys: readonly TrustedKey[] = workerData.data;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function verifyRun({ bytes, ends, position, led, leaves: wanted }: Run): RunResult {
  const breaks: Break[] = [];
  const eras: [number, number, number] = [0, 0, 0];
  const leaves = wanted ? new Uint8Array(32 * (ends.length - (led ? 1 : 0))) : undefined;
  let place: Place = { position: led ? position - 1 : position, previousHash: "" };
  let start = 0;
  for (const end of ends) {
    const record = bytes.subarray(start, end);
    const { reasons, hash, era } = examine(record, place);
    start = end;
    if (place.position >= position) {
      if (reasons.length > 0) breaks.push({ position: place.position, reason: reasons.join("; ") });
      if (era) eras[era - 1]!++;
      leaves?.set(leafFrom(record, place.position), 32 * (place.position - position));
    }
    place = { position: place.position + 1, previousHash: hash, previousEra: era };
  }
  return { breaks, eras, hash: place.previousHash, leaves };
}

/** Zeros where the record is none; that has been reported, and no root fits it. */
function leafFrom(record: Uint8Array, position: number): Uint8Array {
  try {
    const text = utf8.decode(record);
    return leafHashOf({ position, id: String(JSON.parse(text).id), text });
  } catch {
    return new Uint8Array(32);
  }
}

function examine(
  bytes: Uint8Array,
  place: Place,
): { reasons: readonly string[]; hash: string; era: Era | undefined } {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { reasons: ["It is not UTF-8"], hash: "", era: place.previousEra };
  }
  const { verdict, hash, era } = verifyRecord(text, place, keys, NATIVE);
  return { reasons: verdict.reasons, hash, era };
}

parentPort!.on("message", (run: Run) => parentPort!.postMessage(verifyRun(run)));

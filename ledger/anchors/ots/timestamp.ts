import { concat, openReader, type Reader, sameBytes } from "./_bytes.ts";
import {
  type Attestation,
  compareAttestations,
  readAttestation,
  writeAttestation,
} from "./attestation.ts";
import { BadTimestamp } from "./errors.ts";
import { applyOp, compareOps, type Op, readOp, resultLength, writeOp } from "./operation.ts";

/**
 * The attestations of a message, and operations whose results are timestamped in turn. They keep the order of the file,
 * so that writing returns the same bytes.
 */
export interface Timestamp {
  readonly branches: readonly Branch[];
}

/** An attestation of the message, or an operation on it with the timestamp of its result. */
type Branch = { readonly attestation: Attestation } | {
  readonly op: Op;
  readonly then: Timestamp;
};

/** Maximum nesting of timestamps. */
const MAX_DEPTH = 256;
/** Maximum bytes of a timestamp that is read; official ones have a few thousand. */
const MAX_BYTES = 256 * 1024;
/** Maximum bytes that all operations together may process, so that a small file cannot cause endless work. */
const MAX_WORK = 32 * 1024 * 1024;

const FORK = 0xff;
const ATTESTATION = 0x00;

/**
 * Parses a timestamp as calendars send it: without a file header, about a message that the reader knows.
 *
 * @param length length of that message in bytes; operations are checked against it
 * @param depth levels that will be above it, ≥ 0
 * @throws {BadTimestamp}
 */
export function parseTimestamp(bytes: Uint8Array, length: number, depth = 0): Timestamp {
  checkSize(bytes);
  const reader = openReader(bytes);
  const timestamp = readTimestamp(reader, length, depth);
  reader.end("the timestamp");
  return timestamp;
}

/** Checks the size before reading. @throws {BadTimestamp} more than {@linkcode MAX_BYTES} */
export function checkSize({ length }: Uint8Array): void {
  if (length <= MAX_BYTES) return;
  throw new BadTimestamp(
    "too_long",
    `The timestamp has ${length} bytes; at most ${MAX_BYTES} are read`,
  );
}

/** Reads one timestamp, and leaves the bytes after it. @throws {BadTimestamp} */
export function readTimestamp(reader: Reader, length: number, depth: number): Timestamp {
  if (depth >= MAX_DEPTH) {
    const msg = `The timestamp nests deeper than the ${MAX_DEPTH} levels allowed`;
    throw new BadTimestamp("too_deep", msg, reader.offset());
  }
  const branches: Branch[] = [];
  while (true) {
    let tag = reader.byte("a timestamp");
    const last = tag !== FORK;
    if (!last) tag = reader.byte("a timestamp");
    branches.push(readBranch(tag, reader, length, depth));
    if (last) return { branches };
  }
}

function readBranch(tag: number, reader: Reader, length: number, depth: number): Branch {
  if (tag === ATTESTATION) return { attestation: readAttestation(reader) };
  const start = reader.offset() - 1;
  const op = readOp(tag, reader);
  return { op, then: readTimestamp(reader, resultLength(op, length, start), depth + 1) };
}

/** Writes a timestamp without a file header. @throws {BadTimestamp} `empty`: it has a message without attestations */
export function serializeTimestamp(timestamp: Timestamp): Uint8Array {
  const parts: Uint8Array[] = [];
  write(timestamp, parts);
  return concat(...parts);
}

function write({ branches }: Timestamp, parts: Uint8Array[]): void {
  if (branches.length === 0) {
    throw new BadTimestamp("empty", "A timestamp without attestations cannot be written");
  }
  branches.forEach((branch, i) => {
    if (i < branches.length - 1) parts.push(Uint8Array.of(FORK));
    if ("attestation" in branch) {
      parts.push(writeAttestation(branch.attestation));
    } else {
      parts.push(writeOp(branch.op));
      write(branch.then, parts);
    }
  });
}

/** An attestation and the message that it attests. */
export interface AttestedMessage {
  readonly attestation: Attestation;
  readonly message: Uint8Array;
}

/**
 * Applies all operations, and lists every attestation with its message.
 *
 * @param message the message that the timestamp is about
 * @throws {BadTimestamp} an operation is not allowed, or all of them together are too much work
 */
export function listAttestations(timestamp: Timestamp, message: Uint8Array): AttestedMessage[] {
  const found: AttestedMessage[] = [];
  let work = 0;
  const walk = ({ branches }: Timestamp, message: Uint8Array) => {
    for (const branch of branches) {
      if ("attestation" in branch) {
        found.push({ attestation: branch.attestation, message });
        continue;
      }
      work += message.length + 64;
      if (work > MAX_WORK) {
        throw new BadTimestamp("too_long", `Its operations process over ${MAX_WORK} bytes`);
      }
      walk(branch.then, applyOp(branch.op, message));
    }
  };
  walk(timestamp, message);
  return found;
}

/** Prepends operations: returns the timestamp of the message from which they lead to this one. */
export function prependOps(ops: readonly Op[], timestamp: Timestamp): Timestamp {
  return ops.reduceRight<Timestamp>((then, op) => ({ branches: [{ op, then }] }), timestamp);
}

/** Merges timestamps of one message, in the official order, without duplicates. */
export function mergeTimestamps(...timestamps: readonly Timestamp[]): Timestamp {
  const attestations: Attestation[] = [];
  const steps: { op: Op; then: Timestamp }[] = [];
  for (const branch of timestamps.flatMap(({ branches }) => branches)) {
    if ("attestation" in branch) {
      const { attestation } = branch;
      if (attestations.every((known) => compareAttestations(known, attestation) !== 0)) {
        attestations.push(attestation);
      }
      continue;
    }
    const same = steps.find(({ op }) => compareOps(op, branch.op) === 0);
    if (same) same.then = mergeTimestamps(same.then, branch.then);
    else steps.push({ ...branch });
  }
  return {
    branches: [
      ...attestations.sort(compareAttestations).map((attestation) => ({ attestation })),
      ...steps.sort((a, b) => compareOps(a.op, b.op)),
    ],
  };
}

/** Keeps only some attestations, and the operations that lead to them. @returns undefined if none is left */
export function pruneTimestamp(
  { branches }: Timestamp,
  keep: (attestation: Attestation) => boolean,
): Timestamp | undefined {
  const kept = branches.flatMap((branch): Branch[] => {
    if ("attestation" in branch) return keep(branch.attestation) ? [branch] : [];
    const then = pruneTimestamp(branch.then, keep);
    return then ? [{ op: branch.op, then }] : [];
  });
  return kept.length > 0 ? { branches: kept } : undefined;
}

/**
 * Adds the timestamp of an inner message: one that a timestamp leads to.
 *
 * @param message the message that the timestamp is about
 * @param at the inner message; nothing is added if the timestamp does not lead to it
 */
export function graftTimestamp(
  timestamp: Timestamp,
  message: Uint8Array,
  at: Uint8Array,
  addition: Timestamp,
): Timestamp {
  const branches = timestamp.branches.map((branch): Branch =>
    "attestation" in branch ? branch : {
      op: branch.op,
      then: graftTimestamp(branch.then, applyOp(branch.op, message), at, addition),
    }
  );
  return sameBytes(message, at) ? mergeTimestamps({ branches }, addition) : { branches };
}

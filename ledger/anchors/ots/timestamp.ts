import { concat, type Reader, readerOf, sameBytes } from "./_bytes.ts";
import {
  type Attestation,
  compareAttestations,
  readAttestation,
  writeAttestation,
} from "./attestation.ts";
import { BadTimestamp } from "./errors.ts";
import { applyOp, compareOps, type Op, readOp, resultLength, writeOp } from "./operation.ts";

/**
 * What is known of a message: attestations of it, and operations whose results are timestamped in turn. In the
 * order in which they stood in the file, so that writing gives the same bytes.
 */
export interface Timestamp {
  readonly branches: readonly Branch[];
}

/** An attestation of the message, or an operation on it with what is known of its result. */
export type Branch = { readonly attestation: Attestation } | {
  readonly op: Op;
  readonly then: Timestamp;
};

/** Most timestamps within each other. */
export const MAX_DEPTH = 256;
/** Most bytes of a timestamp that are read; the official ones have a few thousand. */
export const MAX_BYTES = 256 * 1024;
/** Most bytes that operations may be given in all, so that a small file can't ask for endless work. */
const MAX_WORK = 32 * 1024 * 1024;

const FORK = 0xff;
const ATTESTATION = 0x00;

/**
 * Reads a timestamp as calendars send it: without a head, and of a message that the reader knows.
 *
 * @param length bytes of that message, which operations are checked against
 * @param depth how deep within another it will stand, ≥ 0
 * @throws {BadTimestamp}
 */
export function parseTimestamp(bytes: Uint8Array, length: number, depth = 0): Timestamp {
  refuseSize(bytes);
  const reader = readerOf(bytes);
  const timestamp = readTimestamp(reader, length, depth);
  reader.end("the timestamp");
  return timestamp;
}

/** @throws {BadTimestamp} more than {@linkcode MAX_BYTES} */
export function refuseSize({ length }: Uint8Array): void {
  if (length <= MAX_BYTES) return;
  throw new BadTimestamp("too_long", `It has ${length} bytes; at most ${MAX_BYTES} are read`);
}

/** Reads one timestamp and leaves what follows. @throws {BadTimestamp} */
export function readTimestamp(reader: Reader, length: number, depth: number): Timestamp {
  if (depth >= MAX_DEPTH) {
    const msg = `It nests deeper than the ${MAX_DEPTH} levels allowed`;
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

/** Writes a timestamp without a head. @throws {BadTimestamp} `empty`: nothing is known of a message */
export function serializeTimestamp(timestamp: Timestamp): Uint8Array {
  const parts: Uint8Array[] = [];
  write(timestamp, parts);
  return concat(...parts);
}

function write({ branches }: Timestamp, parts: Uint8Array[]): void {
  if (branches.length === 0) {
    throw new BadTimestamp("empty", "A timestamp without attestations can't be written");
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

/** An attestation, and the message that it is about. */
export interface AttestedMessage {
  readonly attestation: Attestation;
  readonly message: Uint8Array;
}

/**
 * Works out every attested message.
 *
 * @param message what the timestamp is of
 * @throws {BadTimestamp} an operation is not allowed, or all of them are too much work
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
        throw new BadTimestamp("too_long", `Its operations work on over ${MAX_WORK} bytes`);
      }
      walk(branch.then, applyOp(branch.op, message));
    }
  };
  walk(timestamp, message);
  return found;
}

/** Puts operations before a timestamp: the timestamp of what they turn into its message. */
export function prependOps(ops: readonly Op[], timestamp: Timestamp): Timestamp {
  return ops.reduceRight<Timestamp>((then, op) => ({ branches: [{ op, then }] }), timestamp);
}

/** All that several timestamps of one message know, each thing once, in the official order. */
export function merge(...timestamps: readonly Timestamp[]): Timestamp {
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
    if (same) same.then = merge(same.then, branch.then);
    else steps.push({ ...branch });
  }
  return {
    branches: [
      ...attestations.sort(compareAttestations).map((attestation) => ({ attestation })),
      ...steps.sort((a, b) => compareOps(a.op, b.op)),
    ],
  };
}

/** A timestamp with only those attestations, and what leads to them. @returns undefined: none is left */
export function prune(
  { branches }: Timestamp,
  keep: (attestation: Attestation) => boolean,
): Timestamp | undefined {
  const kept = branches.flatMap((branch): Branch[] => {
    if ("attestation" in branch) return keep(branch.attestation) ? [branch] : [];
    const then = prune(branch.then, keep);
    return then ? [{ op: branch.op, then }] : [];
  });
  return kept.length > 0 ? { branches: kept } : undefined;
}

/**
 * Adds to what is known of a message that a timestamp leads to.
 *
 * @param message what the timestamp is of
 * @param at the message that more is known of; where the timestamp does not lead to it, nothing is added
 */
export function graft(
  timestamp: Timestamp,
  message: Uint8Array,
  at: Uint8Array,
  addition: Timestamp,
): Timestamp {
  const branches = timestamp.branches.map((branch): Branch =>
    "attestation" in branch ? branch : {
      op: branch.op,
      then: graft(branch.then, applyOp(branch.op, message), at, addition),
    }
  );
  return sameBytes(message, at) ? merge({ branches }, addition) : { branches };
}

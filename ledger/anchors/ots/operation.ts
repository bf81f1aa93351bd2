import { ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { compareBytes, concat, type Reader, toHex, varuint } from "./_bytes.ts";
import { BadTimestamp } from "./errors.ts";

/** Maximum bytes of a message, and of an operation's argument. */
const MAX_MESSAGE = 4096;

/** Hash functions of the format. */
const HASHES = { sha1, ripemd160, sha256, keccak256: keccak_256 } as const;

/** Name of a hash function of the format. */
export type HashName = keyof typeof HASHES;

/** One step from a message to the next. */
export type Op =
  | { readonly kind: HashName | "reverse" | "hexlify" }
  | { readonly kind: "append" | "prepend"; readonly arg: Uint8Array };

type Kind = Op["kind"];

const TAGS: Readonly<Record<Kind, number>> = {
  sha1: 0x02,
  ripemd160: 0x03,
  sha256: 0x08,
  keccak256: 0x67,
  append: 0xf0,
  prepend: 0xf1,
  reverse: 0xf2,
  hexlify: 0xf3,
};
const KINDS = new Map(Object.entries(TAGS).map(([kind, tag]) => [tag, kind as Kind]));

/** Returns the tag byte of an operation. */
export const tagOf = (kind: Kind): number => TAGS[kind];

/** Returns the hash function with a tag. @throws {BadTimestamp} `digest_type`: there is none */
export function hashNameOf(tag: number, offset: number): HashName {
  const kind = KINDS.get(tag);
  if (kind !== undefined && kind in HASHES) return kind as HashName;
  const known = Object.keys(HASHES).join(", ");
  const msg = `The file's digest is of unknown type 0x${hexByte(tag)}; known are ${known}`;
  throw new BadTimestamp("digest_type", msg, offset);
}

/** Bytes of a hash function's result. */
export const hashLength = (name: HashName): number => HASHES[name].outputLen;

/** Reads the rest of an operation whose tag was read. */
export function readOp(tag: number, reader: Reader): Op {
  const kind = KINDS.get(tag);
  if (kind === undefined) {
    const msg = `There is no operation 0x${hexByte(tag)}`;
    throw new BadTimestamp("operation", msg, reader.offset() - 1);
  }
  if (kind !== "append" && kind !== "prepend") return { kind };
  return { kind, arg: reader.varbytes(1, MAX_MESSAGE, `the argument of ${kind}`) };
}

/** Writes tag and argument. */
export function writeOp(op: Op): Uint8Array {
  const tag = Uint8Array.of(TAGS[op.kind]);
  return "arg" in op ? concat(tag, varuint(op.arg.length), op.arg) : tag;
}

/**
 * Returns the length of an operation's result without computing it.
 *
 * @throws {BadTimestamp} the operation is not allowed on a message of this length
 */
export function resultLength(op: Op, length: number, offset?: number): number {
  if (length > MAX_MESSAGE) throw tooLong(op, length, offset);
  if (op.kind in HASHES) return hashLength(op.kind as HashName);
  if (length === 0 && (op.kind === "reverse" || op.kind === "hexlify")) {
    throw new BadTimestamp("operation", `An empty message does not allow ${op.kind}`, offset);
  }
  const result = "arg" in op ? length + op.arg.length : op.kind === "hexlify" ? 2 * length : length;
  if (result > MAX_MESSAGE) throw tooLong(op, result, offset);
  return result;
}

/** Applies an operation to a message. @throws {BadTimestamp} as {@linkcode resultLength} */
export function applyOp(op: Op, message: Uint8Array): Uint8Array {
  resultLength(op, message.length);
  switch (op.kind) {
    case "append":
      return concat(message, op.arg);
    case "prepend":
      return concat(op.arg, message);
    case "reverse":
      return message.toReversed();
    case "hexlify":
      return new TextEncoder().encode(toHex(message));
    default:
      return HASHES[op.kind](message);
  }
}

/** Compares in the official order: by tag, then by argument. */
export function compareOps(a: Op, b: Op): number {
  return TAGS[a.kind] - TAGS[b.kind] ||
    compareBytes("arg" in a ? a.arg : NONE, "arg" in b ? b.arg : NONE);
}

const NONE = new Uint8Array();
const hexByte = (byte: number) => byte.toString(16).padStart(2, "0");
const tooLong = ({ kind }: Op, length: number, offset?: number) =>
  new BadTimestamp(
    "too_long",
    `A message of ${length} bytes at ${kind} is over the ${MAX_MESSAGE} allowed`,
    offset,
  );

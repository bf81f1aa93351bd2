import {
  compareBytes,
  concat,
  fromHex,
  openReader,
  type Reader,
  toHex,
  varuint,
} from "./_bytes.ts";
import { BadTimestamp } from "./errors.ts";

/** Maximum bytes of an attestation's payload. */
const MAX_PAYLOAD = 8192;
/** Maximum characters of a calendar's address in a pending attestation. */
const MAX_URI = 1000;

/** A statement that a message existed. `payload` keeps the bytes of the file, so that writing returns the same bytes. */
export type Attestation =
  & { readonly tag: string; readonly payload: Uint8Array }
  & (
    /** A calendar promises an attestation. */
    | { readonly kind: "pending"; readonly uri: string }
    /** The message is the merkle root of the block at this height. */
    | { readonly kind: "bitcoin" | "litecoin"; readonly height: number }
    /** An attestation of an unknown kind: kept, and ignored. */
    | { readonly kind: "unknown" }
  );

const TAG_SIZE = 8;
const PENDING = "83dfe30d2ef90c8e";
const CHAINS: Readonly<Record<string, "bitcoin" | "litecoin">> = {
  "0588960d73d71901": "bitcoin",
  "06869a0d73d71b45": "litecoin",
};
const URI = /^[A-Za-z0-9._/:-]*$/;

/** Reads an attestation after its leading zero byte. @throws {BadTimestamp} */
export function readAttestation(reader: Reader): Attestation {
  const tag = toHex(reader.take(TAG_SIZE, "an attestation's tag"));
  const payload = reader.varbytes(0, MAX_PAYLOAD, "an attestation's payload");
  const inner = openReader(payload, reader.offset() - payload.length);
  const chain = CHAINS[tag];
  if (chain) {
    const height = inner.varuint(`the ${chain} block's height`);
    inner.end(`the ${chain} attestation`);
    return { kind: chain, height, tag, payload };
  }
  if (tag !== PENDING) return { kind: "unknown", tag, payload };
  const start = inner.offset();
  const uri = String.fromCharCode(...inner.varbytes(0, MAX_URI, "a calendar's address"));
  inner.end("the pending attestation");
  if (!URI.test(uri)) {
    const msg = "A calendar's address may only have the characters A-Z a-z 0-9 . _ / : -";
    throw new BadTimestamp("attestation", msg, start);
  }
  return { kind: "pending", uri, tag, payload };
}

/** Writes zero byte, tag and payload. */
export function writeAttestation({ tag, payload }: Attestation): Uint8Array {
  return concat(Uint8Array.of(0), fromHex(tag), varuint(payload.length), payload);
}

/** Makes an attestation by the block at a height. @param height ≥ 0 */
export function bitcoinAttestation(height: number): Attestation {
  return { kind: "bitcoin", height, tag: "0588960d73d71901", payload: varuint(height) };
}

/** Makes a calendar's promise. @param uri at most 1,000 of the characters that the format allows */
export function pendingAttestation(uri: string): Attestation {
  if (uri.length > MAX_URI || !URI.test(uri)) {
    throw new BadTimestamp("attestation", `A timestamp cannot hold ${uri} as a calendar's address`);
  }
  const bytes = new TextEncoder().encode(uri);
  return { kind: "pending", uri, tag: PENDING, payload: concat(varuint(bytes.length), bytes) };
}

/** Compares in the official order: by tag; within one kind by height or address. */
export function compareAttestations(a: Attestation, b: Attestation): number {
  if (a.tag !== b.tag) return a.tag < b.tag ? -1 : 1;
  if ("height" in a && "height" in b) return a.height - b.height;
  if ("uri" in a && "uri" in b) return a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0;
  return compareBytes(a.payload, b.payload);
}

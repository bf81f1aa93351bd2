/**
 * What of a receipt goes into the Merkle log: a leaf is small, and there is one for every era. Nothing of Node is used, so
 * that a browser can make the same leaf from the same export.
 */
import { canonicalize, canonicalizeText } from "./canonical.ts";

const UTF_8 = new TextEncoder();

/** A receipt as it is exported, and where. */
export interface LeafSource {
  /** From 0. */
  readonly position: number;
  readonly id: string;
  /** The record, byte for byte. */
  readonly text: string;
}

/**
 * The leaf of a receipt: the canonical JSON of `chain_position`, `id` and `record_sha256`, which is the SHA-256 of the whole
 * exported record's canonical form.
 *
 * @param sha256 gives lowercase hex
 * @throws {NotCanonical} the record has no canonical form
 */
export function formatLeaf(
  { position, id, text }: LeafSource,
  sha256: (bytes: Uint8Array) => string,
): string {
  return formatLeafOfHash(position, id, sha256(UTF_8.encode(canonicalizeText(text))));
}

/** The leaf of a receipt whose record's hash is known. @param recordSha256 lowercase hex */
export function formatLeafOfHash(position: number, id: string, recordSha256: string): string {
  return `{"chain_position":${position},"id":${
    canonicalize(id)
  },"record_sha256":"${recordSha256}"}`;
}

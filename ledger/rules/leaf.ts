import { canonicalize } from "./canonical.ts";
import { canonicalizeText } from "./canonical_text.ts";

const UTF_8 = new TextEncoder();

/** A receipt as it is exported, and its place. */
export interface LeafSource {
  /** From 0. */
  readonly position: number;
  readonly id: string;
  /** The record, byte for byte. */
  readonly text: string;
}

/**
 * Returns the leaf of a receipt in the Merkle log: the canonical JSON of `chain_position`, `id` and `record_sha256`,
 * which is the SHA-256 of the canonical form of the whole exported record.
 *
 * @param sha256 returns lowercase hex
 * @throws {NotCanonical} the record has no canonical form
 */
export function formatLeaf(
  { position, id, text }: LeafSource,
  sha256: (bytes: Uint8Array) => string,
): string {
  return formatLeafOfHash(position, id, sha256(UTF_8.encode(canonicalizeText(text))));
}

/** Returns the leaf of a receipt whose record's hash is known. @param recordSha256 lowercase hex */
export function formatLeafOfHash(position: number, id: string, recordSha256: string): string {
  return `{"chain_position":${position},"id":${
    canonicalize(id)
  },"record_sha256":"${recordSha256}"}`;
}

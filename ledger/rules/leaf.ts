import { canonicalize, NotCanonical } from "./canonical.ts";
import { canonicalizeText } from "./canonical_text.ts";
import { parseFields } from "./record_fields.ts";
import { type Hash, hashLeaf } from "./tree.ts";
import type { Primitives } from "./types.ts";

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

/** Returns the hash of a record's leaf. @returns undefined for a record that has none: verifying it reports why */
export function hashRecord(
  text: string,
  position: number,
  { sha256, fromHex }: Pick<Primitives, "sha256" | "fromHex">,
): Hash | undefined {
  const { id } = parseFields(text);
  if (typeof id !== "string") return undefined;
  try {
    const leaf = UTF_8.encode(formatLeaf({ position, id, text }, sha256));
    return hashLeaf(leaf, (bytes) => fromHex(sha256(bytes)));
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return undefined;
  }
}

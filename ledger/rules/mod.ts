/**
 * The rules that make a receipt valid: canonical JSON, hashes, signatures, links, the succession of keys, leaves and the
 * Merkle tree.
 *
 * ```ts
 * const { verdict } = verifyRecord(json, { position: 0, previousHash: "" }, keys, primitives);
 * ```
 *
 * Pure, and without anything of Node: the server, the command and the page in a browser decide by the same lines, each
 * with its own SHA-256 and Ed25519.
 * @module
 */
export { canonicalize, canonicalizeValues, joinFields, NotCanonical } from "./canonical.ts";
export { canonicalizeFields, canonicalizeItems, canonicalizeText } from "./canonical_text.ts";
export {
  findPlaceAfter,
  type FollowedRecord,
  followSpan,
  type Span,
  type SpanBreak,
} from "./follow_span.ts";
export { collectKeys, KEY_MARKS } from "./key_collector.ts";
export { formatLeaf, formatLeafOfHash, type LeafSource } from "./leaf.ts";
export {
  findKeysWithoutSuccession,
  findUnproven,
  formatRotation,
  type IntroducedKey,
  isSuccession,
  type NamedKey,
  nameKey,
  type SuccessionCategory,
} from "./succession.ts";
export {
  BadReceiptFile,
  createReceiptSplitter,
  type Envelope,
  isNewestFirst,
  isReceipt,
  parseObject,
  type RawReceipt,
} from "./receipt_stream.ts";
export { type KeyProof, listIntroductions, listProvenKeys, proveKeys } from "./prove_keys.ts";
export { parseFields, readLink, readPosition } from "./record_fields.ts";
export {
  addPlacePositions,
  findPlaceBreaks,
  findPlaceFault,
  formatPlaceStatement,
  type NamedPlaces,
  openPlacePositions,
  PLACE_ENROLLED,
  type PlacePositions,
  readPlaces,
} from "./places.ts";
export {
  computeInclusionRoot,
  computeRoot,
  createGrowingTree,
  type Hash,
  hashLeaf,
  hashNode,
  isConsistent,
  isSameHash,
  type Sha256,
} from "./tree.ts";
export {
  type Break,
  type Check,
  type Checks,
  type Era,
  findTrustedKey,
  type Place,
  type Primitives,
  type TrustedKey,
  type Verdict,
} from "./types.ts";
export { verifyRecord } from "./verify_record.ts";

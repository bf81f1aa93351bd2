/**
 * OpenTimestamps: makes, reads, merges and verifies proofs that bytes existed before a Bitcoin block.
 *
 * ```ts
 * const { digest, timestamp } = parseProof(bytes);
 * const results = verifyTimestamp(timestamp, digest, new Map([[height, header]]));
 * ```
 *
 * Runs in Node and in browsers. Trusts: SHA-256, and that nobody can redo Bitcoin's work. Doesn't trust: calendars,
 * sources of block headers, files.
 * @module
 * @see https://opentimestamps.org
 */
export { bitcoinAttestation, pendingAttestation } from "./attestation.ts";
export { fetchTimestamp, isAllowedCalendar, submitDigest } from "./calendar.ts";
export { confirmBlock, type ConfirmedBlock } from "./confirm.ts";
export { BadHeader, BadTimestamp, NotConfirmed, SourceFailed } from "./errors.ts";
export { OTS_TYPE, parseProof, serializeProof } from "./file.ts";
export { checkHeader, type Network, parseHeader, targetFromBits } from "./header.ts";
export { MAINNET } from "./mainnet.ts";
export { applyOp, type Op } from "./operation.ts";
export { type BitcoinSource, openBitcoinSources } from "./sources.ts";
export {
  type AttestedMessage,
  graftTimestamp,
  listAttestations,
  mergeTimestamps,
  parseTimestamp,
  prependOps,
  pruneTimestamp,
  serializeTimestamp,
  type Timestamp,
} from "./timestamp.ts";
export { type Sha256, SUBTREE_SIZE, treePath, treeRoot } from "./tree.ts";
export { type AttestationResult, verifyTimestamp } from "./verify.ts";

/**
 * OpenTimestamps: proofs that bytes existed before a Bitcoin block, read, made, merged and verified.
 *
 * ```ts
 * const { digest, timestamp } = parseFile(bytes);
 * for (const { state, reason } of verifyTimestamp(timestamp, digest, new Map([[height, header]]))) …
 * ```
 *
 * Runs in Node and in browsers alike. Trusts: SHA-256, and that nobody redoes Bitcoin's work. Doesn't trust: calendars,
 * sources of headers, and files.
 * @module
 * @see https://opentimestamps.org
 */
export { type Attestation, bitcoinAttestation, pendingAttestation } from "./attestation.ts";
export {
  type BitcoinSource,
  CONFIRMATIONS,
  confirmBlock,
  type ConfirmedBlock,
  NotConfirmed,
  openBitcoinSources,
} from "./bitcoin.ts";
export { fetchTimestamp, isAllowedCalendar, submitDigest } from "./calendar.ts";
export { BadHeader, BadTimestamp, SourceFailed, type TimestampFault } from "./errors.ts";
export { OTS_TYPE, parseFile, serializeFile, type TimestampFile } from "./file.ts";
export {
  type BlockHeader,
  checkHeader,
  type Network,
  parseHeader,
  targetFromBits,
  type TargetRange,
} from "./header.ts";
export { MAINNET } from "./mainnet.ts";
export { applyOp, HASHES, type HashName, type Op } from "./operation.ts";
export {
  type AttestedMessage,
  type Branch,
  graft,
  listAttestations,
  merge,
  parseTimestamp,
  prependOps,
  prune,
  serializeTimestamp,
  type Timestamp,
} from "./timestamp.ts";
export { type Sha256, SUBTREE_SIZE, treePath, treeRoot } from "./tree.ts";
export { type AttestationResult, verifyTimestamp } from "./verify.ts";

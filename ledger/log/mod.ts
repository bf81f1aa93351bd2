/**
 * The Merkle log of the chain in the published C2SP formats: tlog-tiles, tlog-checkpoint, tlog-cosignature.
 *
 * ```ts
 * const read = createHashReader(store);
 * const proof = await buildInclusionProof(index, size, read, sha256);
 * const root = computeInclusionRoot({ leafHash, index, size, proof }, sha256);
 * ```
 *
 * Trusts: the log's key file and the checkpoint file beside it. Doesn't trust: the database.
 * @module
 * @see RFC 6962, RFC 9162
 */
export { readSignedSize } from "./checkpoint_signer.ts";
export { readIfPresent, writeDurably } from "./durable_file.ts";
export {
  formatSignature,
  formatVerifierKey,
  isSignedBy,
  parseOwnCheckpoint,
  parseVerifierKey,
  signNote,
} from "./note.ts";
export { describeWaiting, getPublishingState, type PublishingState } from "./publishing.ts";
export { getPublicSize } from "./public_size.ts";
export { type LogSettings, readLogSettings } from "./settings.ts";
export {
  createHashReader,
  getPublishedCheckpoint,
  type PublishedCheckpoint,
} from "./stored_log.ts";
export {
  buildConsistencyProof,
  buildInclusionProof,
  computeEdgeRoot,
  computeRootAt,
  type Edge,
  formatTilePath,
  growEdge,
  parseTilePath,
  readEdge,
  type ReadHashes,
  type Tile,
  TILE_WIDTH,
} from "./tiles.ts";
export { findContradiction, LogBroken, type LogWriter, openLog } from "./writer.ts";

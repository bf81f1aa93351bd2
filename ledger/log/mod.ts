/**
 * A Merkle log in the published C2SP formats (tlog-tiles, tlog-checkpoint, tlog-cosignature), whatever its leaves are.
 *
 * ```ts
 * const proof = await inclusionProof(index, size, read, sha256);
 * const root = rootFromInclusion({ leafHash, index, size, proof }, sha256);
 * ```
 *
 * @module
 * @see RFC 6962, RFC 9162
 */
export * from "./growing.ts";
export * from "./note.ts";
export * from "./tiles.ts";
export * from "../rules/tree.ts";
export * from "./witness.ts";
export { encodeLeaf, computeLeafHash, createHashReader, getPublishedCheckpoint, type PublishedCheckpoint, sha256 } from "./log_hashes.ts";
export { type LogSettings, readLogSettings } from "./log_place.ts";
export { findContradiction, LogBroken, type LogOptions, type LogWriter, openLog } from "./log_writer.ts";
export { writeDurably, parseOwnCheckpoint, readIfPresent } from "./_kept.ts";

/**
 * Blobs that all processes of a platform share: a bucket of S3, or of a server that speaks its protocol.
 *
 * ```ts
 * const blobs = openBlobs(config);
 * await blobs?.put(`media/${sha256}`, bytes);
 * ```
 *
 * Doesn't trust: the bucket, whose blobs are checked by their keys.
 * @module
 */
export { openBlobs, openJournalBlobs } from "./open.ts";

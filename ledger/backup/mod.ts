/**
 * Backups of the platform: its database, the newest checkpoint and the signer's state, under a signed manifest.
 *
 * ```ts
 * await backUp({ databaseUrl, keyFile, log, folder: "backup-2026-07-01" });
 * ```
 *
 * Trusts: the log's key file. Doesn't trust: the files of a backup.
 * @module
 */
export { backUp, loadBackup } from "./backup.ts";
export { verifyBackup } from "./manifest.ts";

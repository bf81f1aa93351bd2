/**
 * The PostgreSQL and the Temporal of a machine that has none: real servers, started for us and stopped with us.
 *
 * ```ts
 * const tree = await claim(dataDir);
 * const postgres = await startPostgres(dataDir, 5433);
 * const temporal = await startTemporal(dataDir, { grpc: 7233, ui: 8233 }, config.temporal);
 * …
 * await Promise.all([temporal.stop(), postgres.stop()]);
 * await tree.release();
 * ```
 *
 * @module
 */
export * from "./_errors.ts";
export {
  bootId,
  commandLine,
  identifyProcess,
  isRunning,
  parentOf,
  type ProcessId,
  stopProcess,
} from "./_process_id.ts";
export { logPath, openLog, readJson, readLastLines } from "./_log_file.ts";
export { checkPort } from "./_port.ts";
export { createDatabase, databaseUrl, type Postgres, startPostgres } from "./postgres.ts";
export { claimDataFolder, type Rank, type Tree, type TreeProcess } from "./tree.ts";
export { startTemporal, type Temporal } from "./temporal.ts";

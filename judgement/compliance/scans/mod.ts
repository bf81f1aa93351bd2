/**
 * Security scans: weaknesses in settings, files, keys, ports and dependencies of the platform and its host.
 *
 * ```ts
 * const results = await scanAll({ config, store });
 * const present = await recheckWeakness({ config, store }, "permissions", fingerprint);
 * ```
 *
 * @module
 */
export {
  findWeakness,
  followScanners,
  listScannerRuns,
  listWeaknesses,
  type QueuedWeakness,
  toLoopFinding,
} from "./queue.ts";
export {
  recheckWeakness,
  REPAIRABLE_WEAKNESSES,
  SCAN_DETECTOR,
  scanAll,
  SCANNER_NAMES,
  type ScannerName,
  type ScannerResult,
} from "./scan.ts";

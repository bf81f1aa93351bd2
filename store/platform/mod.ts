/**
 * The state of the platform itself: flags, processes, figures, spans and uses of models.
 *
 * ```ts
 * const isReadOnly = await isFlagSet(db, "read_only");
 * ```
 * @module
 */
export { countReceiptsByCategory, getStoredFacts, type StoredFacts } from "./compliance.ts";
export {
  countServicesByStatus,
  countTicketsByStatus,
  getPlatformCounts,
  getResolutionFigures,
} from "./figures.ts";
export { type FlagRecord, isFlagSet, listFlags, lockFlags, putFlag } from "./flags.ts";
export { countPassages, listIntegrationHealth, recordIntegrationHealth } from "./integrations.ts";
export { getMetricFigures } from "./metric_figures.ts";
export {
  findModelUse,
  getModelSpending,
  listLostModelUses,
  type ModelBudget,
  type ModelBudgets,
  type ModelCharge,
  type ModelUse,
  pruneModelUses,
  reserveModelUse,
  settleModelUse,
} from "./model_uses.ts";
export {
  countOpenBreaks,
  getDatabaseState,
  getOutboxState,
  getSealingTrouble,
  type OutboxState,
  type SealingTrouble,
} from "./platform_state.ts";
export {
  forgetPlaceKey,
  getPlaceKey,
  getSilentSeconds,
  isPlace,
  listPlaces,
  listSilentPlaces,
  notePlaceKey,
  reportPlace,
} from "./places.ts";
export {
  findRestart,
  forgetProcess,
  listProcesses,
  type ProcessRecord,
  type ProcessReport,
  reportProcesses,
} from "./processes.ts";
export {
  addConfigVersion,
  type ConfigDrift,
  type ConfigFile,
  type ConfigInForce,
  type ConfigVersion,
  findConfigInForce,
  findConfigVersion,
  findLastPutFrom,
  listConfigDrift,
  listConfigInForce,
  listConfigVersions,
  lockConfig,
} from "./config_versions.ts";
export {
  findSettingsFile,
  listRefusedFiles,
  listSettingsFilesOf,
  lockSettingsFile,
  putSettingsFile,
  type SettingsFileRecord,
  type SettingsMistake,
} from "./settings_files.ts";
export {
  findSharedSecret,
  forgetSharedSecret,
  noteSharedSecret,
  SHARED_SECRETS,
  type SharedSecretName,
} from "./shared_secrets.ts";
export {
  addReportedSpan,
  type CallSpan,
  getSpanFigures,
  hasTrace,
  listSpans,
  pruneSpans,
  recordCallSpans,
  SPAN_KINDS,
  type SpanFigures,
  spanIdsOf,
  type SpanRecord,
} from "./spans.ts";
export { exportSpans, getSpanExport, markSpanExported } from "./span_export.ts";
export { getDeliveredMessage, getHealedDrill } from "./setup.ts";
export { countStandbys } from "./standbys.ts";

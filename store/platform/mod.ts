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
export {
  countPassages,
  type IntegrationHealth,
  listIntegrationHealth,
  recordIntegrationHealth,
} from "./integrations.ts";
export { getMetricFigures } from "./metric_figures.ts";
export {
  findModelUse,
  getModelSpending,
  listLostModelUses,
  MODEL_USE_DAYS,
  type ModelBudget,
  type ModelBudgets,
  type ModelCharge,
  type ModelUse,
  type ModelUseEnd,
  type NewModelUse,
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
  forgetProcess,
  listProcesses,
  type ProcessRecord,
  type ProcessReport,
  reportProcesses,
} from "./processes.ts";
export {
  addReportedSpan,
  type CallSpan,
  getSpanFigures,
  hasTrace,
  listSpans,
  pruneSpans,
  recordCallSpans,
  type ReportedSpan,
  SPAN_KINDS,
  type SpanFigures,
  spanIdsOf,
  type SpanRecord,
  type TraceFilter,
} from "./spans.ts";
export { exportSpans, getSpanExport, markSpanExported, type SpanExport } from "./span_export.ts";

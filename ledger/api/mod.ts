export { type AnchorSummary, getAnchorSummary } from "./anchors_api.ts";
export { ledgerOperations, type LedgerParts } from "./api.ts";
export { bindExportStream } from "./export_stream.ts";
export { bindLog } from "./log_routes.ts";

/**
 * Systems of others that show traces: any collector of OpenTelemetry, over OTLP/HTTP, and a Langfuse.
 *
 * ```ts
 * const exporter = openSpanExporter(config);
 * await exporter?.send(spans);
 * ```
 *
 * Doesn't trust: what they answer, beyond how many spans they refused.
 * @module
 */
export type { ExportedSpan } from "./_otlp_spans.ts";
export {
  collectorCredential,
  collectorUrl,
  openSpanExporter,
  type SpanExporter,
} from "./exporter.ts";
export { keepExportingSpans } from "./keep_exporting.ts";
export { type Langfuse, openLangfuse } from "./langfuse.ts";

/**
 * Metrics of a process, as Prometheus reads them. No label holds a name that people gave, or an id.
 *
 * ```ts
 * countCall({ operation: "tickets.close", door: "rest", effect: "run", outcome: "success", seconds: 0.012 });
 * const text = await renderMetrics();
 * ```
 *
 * @module
 */
export {
  addMetrics,
  CONTENT_TYPE,
  countCall,
  countDecision,
  countLoop,
  countModelUse,
  renderMetrics,
  useProcessMetrics,
} from "./metrics.ts";
export { usePlatformMetrics } from "./platform.ts";
export { usePollMetrics } from "./polls.ts";

/**
 * How the integrations are: one view of each, from a probe that can fail by itself alone.
 *
 * ```ts
 * const views = openViews(store.asPlatform(), createProbes(parts));
 * const { mode, status, detail } = await views.view("rag");
 * ```
 *
 * @module
 */
export { createProbes, type ProbeParts } from "./probes.ts";
export { type Finding, type IntegrationViews, openViews, type Probe } from "./views.ts";

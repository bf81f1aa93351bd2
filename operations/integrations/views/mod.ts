/**
 * Views of the integrations: one of each, from a probe that can fail by itself alone.
 *
 * ```ts
 * const views = openViews(store.asPlatform(), createProbes(parts));
 * const { mode, status, detail } = await views.view("rag", context);
 * ```
 *
 * @module
 */
export { createProbes, type ProbeParts } from "./probes.ts";
export { type Finding, isOperator, type LookingProbe, openViews, type Probe } from "./views.ts";

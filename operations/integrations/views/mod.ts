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
export { createProbes } from "./probes.ts";
export { isOperator, openViews, type Probe } from "./views.ts";

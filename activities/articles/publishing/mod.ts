/**
 * Activities of publishing: have people decide about an item of the pipeline, and publish exactly what they have approved.
 *
 * ```ts
 * const { askAboutItem, decideItem } = askAboutItemActivities(parts);
 * const { publishFiles, takeOverPost } = publishItemActivities(parts);
 * ```
 *
 * @module
 */
export { askAboutItemActivities } from "./ask.ts";
export { itemKind } from "./open.ts";
export { publishItemActivities } from "./publish.ts";

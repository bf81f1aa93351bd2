/**
 * Activities of articles: write one from the platform's records, have people decide about it, and deploy it.
 *
 * ```ts
 * const { writeArticle } = writeArticleActivities(parts);
 * ```
 *
 * @module
 */
export { approveArticleActivities } from "./approve.ts";
export { deployArticleActivities } from "./deploy.ts";
export { endedArticleActivities } from "./ended.ts";
export { writeArticleActivities } from "./write.ts";

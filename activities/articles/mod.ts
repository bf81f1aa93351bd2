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
export { articleKind, deployKind, siteKind } from "./open.ts";
export { writeArticleActivities } from "./write.ts";

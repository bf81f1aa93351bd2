/**
 * The gateway: the operations as REST routes, and the pages that describe them.
 *
 * ```ts
 * const app = createRestApp({ operations, invoke, http, info });
 * ```
 *
 * @module
 */
export { bindArticles } from "./articles.ts";
export { bindCalendarFeed } from "./calendar_feed.ts";
export { bindMediaFiles } from "./media_files.ts";
export { bindSchemas, createRestApp } from "./rest_app.ts";
export { bindMailLinks } from "./mail_links.ts";

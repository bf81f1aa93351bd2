/**
 * The gateway: the operations as REST routes, and the pages that describe them.
 *
 * ```ts
 * const app = createRestApp({ operations, invoke, http, info });
 * ```
 *
 * @module
 */
export { bindCalendarFeed } from "./calendar_feed.ts";
export { bindSchemas, createRestApp, type RestServer } from "./rest_app.ts";
export { bindUnsubscribe } from "./unsubscribe.ts";

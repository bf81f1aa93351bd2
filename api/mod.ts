/**
 * The gateway: the operations as REST routes, and the pages that describe them.
 *
 * ```ts
 * const app = createRestApp({ operations, invoke, shell, info });
 * ```
 *
 * @module
 */
export { createRestApp, type RestServer } from "./rest_app.ts";
export { bindSchemas } from "./schemas.ts";

/**
 * What the gateway, the tool server and the public ledger share as HTTP servers.
 *
 * ```ts
 * const app = createApp({ log, trustedHops: 0, secure: false });
 * const { address, close } = await serve(app, settings, 8080);
 * ```
 *
 * Trusts: as many proxies as the settings name, and no header otherwise.
 * @module
 */
export * from "./address.ts";
export * from "./app.ts";
export { MalformedJson, parseJson } from "./_json.ts";
export { MAX_BODY, readJson } from "./body.ts";
export * from "./log.ts";
export * from "./methods.ts";
export { bindPages } from "./pages.ts";
export { FOR_EVER } from "./reads.ts";
export * from "./serve.ts";

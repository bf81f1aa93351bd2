/**
 * HTTP servers: the parts that the gateway, the tool server, the engine and the public ledger share.
 *
 * ```ts
 * const app = createApp({ log, trustedHops: 0, secure: false, names: serverNames(settings) });
 * const { address, close } = await serve(app, settings, 8080);
 * ```
 *
 * Trusts: as many proxies as the settings say, and no forwarding header otherwise. Doesn't trust: `Host`, `Origin`.
 * @module
 */
export { type AppOptions, createApp, type RequestState } from "./app.ts";
export { type Asset, bindAssets, loadAssets } from "./assets.ts";
export { MAX_BODY, readJson } from "./body.ts";
export { createDisconnectSignal, handleConnections } from "./connections.ts";
export { parseJson } from "./json.ts";
export { createLog, type Log, STANDARD_ERROR } from "./log.ts";
export { FOREVER } from "./reads.ts";
export { serveRoutes } from "./methods.ts";
export { bindDescription, bindPages } from "./pages.ts";
export type { ForeignPageOptions } from "./foreign_pages.ts";
export { isOwnPage, serverNames } from "./server_names.ts";
export { isLoopback, isSecure, type Listening, serve } from "./serve.ts";

/**
 * The guarded HTTP client: time limits, size limits, and only addresses that it may reach.
 *
 * ```ts
 * const http = openHttpClient({ allow: ["10.1.0.0/16"] });
 * const { status } = await http.request(url, { method: "GET", timeoutMs: 2_000 });
 * ```
 *
 * Doesn't trust: URLs, what their names resolve to, and the servers behind them.
 * @module
 */
export { BadNetwork, parseNetworks, plainAddress } from "./addresses.ts";
export { type HttpClient, openHttpClient } from "./http_client.ts";
export { OutboundFailed, OutboundRefused, type OutboundResponse } from "./messages.ts";

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
export type { OutboundRequest, OutboundResponse } from "./_messages.ts";
export { type AddressKind, type AddressRules, BadNetwork, parseNetworks } from "./addresses.ts";
export { OutboundFailed, OutboundRefused } from "./errors.ts";
export {
  type HttpClient,
  type HttpClientOptions,
  openHttpClient,
  type Resolver,
} from "./http_client.ts";

export { type HttpClient, openHttpClient, OutboundFailed, OutboundRefused } from "./http_client.ts";
export { BadNetwork, parseNetworks } from "./addresses.ts";

export { type HttpClient, openHttpClient, OutboundFailed, OutboundRefused } from "./http_client.ts";
export { BadNetwork, readNetworks } from "./addresses.ts";

import { type HealthCheck, isThisHost, parseHostPort } from "../../integrations/host/mod.ts";
import { type HttpClient, openHttpClient } from "../../integrations/http/mod.ts";
import type { ParameterValues } from "./_parameters.ts";

/** Loopback, under each of its names. */
const LOOPBACK_NETWORKS = ["127.0.0.0/8", "::1/128"];
const LOOPBACK_NAME = "localhost";

/** Places that the runbooks of one service may send requests to. */
export interface Reach {
  readonly service: { readonly host: string; readonly check: HealthCheck | null };
  /** Values that the services file gives for parameters. */
  readonly values: ParameterValues;
  /** Networks that `SEALOOP_OUTBOUND_ALLOW` names. */
  readonly allowNetworks: readonly string[];
}

/**
 * Opens the HTTP client for the runbooks of one service. Besides the public Internet by https, it reaches the hosts that the
 * services file names for the service (its host, its check, URLs among its values), loopback where the service is on this
 * host, and the networks that the operator allows.
 */
export function openReach({ service, values, allowNetworks }: Reach): HttpClient {
  const isLocal = isThisHost(service.host);
  return openHttpClient({
    allow: [...allowNetworks, ...(isLocal ? LOOPBACK_NETWORKS : [])],
    allowHosts: [
      service.host,
      ...(isLocal ? [LOOPBACK_NAME] : []),
      ...checkHost(service.check),
      ...Object.values(values).flat().flatMap(urlHost),
    ],
  });
}

function checkHost(check: HealthCheck | null): string[] {
  if (check === null || "command" in check) return [];
  return "http" in check ? urlHost(check.http) : [parseHostPort(check.tcp).host];
}

function urlHost(value: string | number): string[] {
  const text = String(value);
  return /^https?:\/\//.test(text) && URL.canParse(text) ? [new URL(text).hostname] : [];
}

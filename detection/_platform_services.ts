import type { Config } from "../config.ts";
import { isThisHost, THIS_HOST } from "../integrations/host/mod.ts";
import type { Dependency, EdgeKind, ServiceRecord } from "../store/mod.ts";

/** Where the platform's parts are, as this process was told. */
export interface Surroundings {
  readonly database: URL;
  /** `host:port`. */
  readonly temporal: string;
  /** Whether all parts were started together, on this host. */
  readonly together: boolean;
}

/**
 * The platform's own parts as services: they are watched like any other. Nothing is listed for repairing them, as what
 * started them starts them again.
 */
export function platformServices(
  { settings }: Config,
  { database, temporal, together }: Surroundings,
): ServiceRecord[] {
  const part = (
    name: string,
    check: Readonly<Record<string, string>> | null,
    needs: Readonly<Record<string, EdgeKind>> = {},
  ): ServiceRecord => ({
    name,
    ...{ type: "platform", host: "localhost", owner: "sealoop", origin: "platform" },
    ...{ check, restart: null, watched: check !== null },
    dependsOn: edges(needs),
  });
  const server = (port: number, path: string) => {
    // A certificate is made out to a name that we don't know; elsewhere, we don't know where.
    const known = together && settings.SEALOOP_TLS_CERT === undefined;
    return known ? { http: `http://${hostFor(settings.SEALOOP_BIND)}:${port}${path}` } : null;
  };
  const {
    SEALOOP_ENGINE_PORT,
    SEALOOP_ENGINE_URL,
    SEALOOP_GATEWAY_PORT,
    SEALOOP_MCP_PORT,
    SEALOOP_LEDGER_PORT,
  } = settings;
  const engine = together && !SEALOOP_ENGINE_URL
    ? { http: `http://127.0.0.1:${SEALOOP_ENGINE_PORT}/health` }
    : null;
  const store = { postgresql: "stores_in" } as const;
  const asksAll = { ...store, temporal: "connects_to", engine: "connects_to" } as const;
  const parts = [
    at(
      database.hostname,
      part("postgresql", { tcp: `${database.hostname}:${database.port || 5432}` }),
    ),
    at(temporal.replace(/:\d+$/, ""), part("temporal", { tcp: temporal })),
    part("engine", engine, store),
    part("worker", null, asksAll), // it is the one that looks
    part("gateway", server(SEALOOP_GATEWAY_PORT, "/v1/health"), asksAll),
    part("tool-server", server(SEALOOP_MCP_PORT, "/health"), asksAll),
    part("public-ledger", server(SEALOOP_LEDGER_PORT, "/api/health"), store),
  ];
  if (!together) return parts;
  const host: ServiceRecord = { ...part(THIS_HOST, null), type: "host", owner: null };
  const ui = part("temporal-ui", null, { temporal: "runs_on" });
  return temporal.endsWith(`:${settings.SEALOOP_TEMPORAL_PORT}`)
    ? [host, ...parts, ui]
    : [host, ...parts];
}

/**
 * What is on a host needs it: adds an edge from each service to those of type `host` that are the machine it is on.
 */
export function withHosts(services: readonly ServiceRecord[]): ServiceRecord[] {
  const machines = new Map(services.map(({ host }) => [host, ""]));
  for (const host of machines.keys()) machines.set(host, machine(host));
  const hosts = services.filter(({ type }) => type === "host");
  return services.map((service) => {
    if (service.type === "host") return service;
    const named = new Set(service.dependsOn.map((dependency) => dependency.service));
    const on = hosts.filter(({ name, host }) =>
      machines.get(host) === machines.get(service.host) && !named.has(name)
    );
    const added = on.map(({ name }): Dependency => ({ service: name, kind: "hosted_on" }));
    return { ...service, dependsOn: [...service.dependsOn, ...added] };
  });
}

/** The part on its host, which may be another one than ours. */
const at = (host: string, part: ServiceRecord) => ({ ...part, host: machine(host) });

const machine = (host: string) => isThisHost(host) ? "localhost" : host;

function edges(needs: Readonly<Record<string, EdgeKind>>): Dependency[] {
  return Object.entries(needs).map(([service, kind]) => ({ service, kind }));
}

/** Where to reach what listens on an address: on all of them is also on loopback. */
function hostFor(bind: string): string {
  if (bind === "0.0.0.0") return "127.0.0.1";
  if (bind === "::") return "[::1]";
  return bind.includes(":") ? `[${bind}]` : bind;
}

import type { Config } from "../../config.ts";
import { isThisHost, THIS_HOST } from "../../integrations/host/mod.ts";
import type { Dependency, EdgeKind, ServiceRecord } from "../../store/cmdb/mod.ts";

/** Places of the platform's parts, as this process knows them. */
export interface PlatformPlaces {
  readonly database: URL;
  /** `host:port`. */
  readonly temporal: string;
  /** True: all parts were started together, on this host. */
  readonly together: boolean;
}

type Check = Readonly<Record<string, string>> | null;
type Needs = Readonly<Record<string, EdgeKind>>;

const STORE: Needs = { postgresql: "stores_in" };
const ALL_SERVERS: Needs = { ...STORE, temporal: "connects_to", engine: "connects_to" };

/**
 * Lists the platform's own parts as services: they are watched like any other. None has a restart, as the process that
 * started them restarts them.
 */
export function listPlatformServices(
  { settings }: Pick<Config, "settings">,
  { database, temporal, together }: PlatformPlaces,
): ServiceRecord[] {
  const serverCheck = (port: number, path: string): Check => {
    // With TLS, the name that the certificate is issued to is unknown. On another host, the address is.
    const isKnown = together && settings.SEALOOP_TLS_CERT === undefined;
    return isKnown
      ? { http: `http://${localAddress(settings.SEALOOP_BIND)}:${port}${path}` }
      : null;
  };
  const engineCheck: Check = together && !settings.SEALOOP_ENGINE_URL
    ? { http: `http://127.0.0.1:${settings.SEALOOP_ENGINE_PORT}/health` }
    : null;
  const databaseCheck: Check = { tcp: `${database.hostname}:${database.port || 5432}` };
  const parts = [
    { ...part("postgresql", databaseCheck), host: graphHost(database.hostname) },
    { ...part("temporal", { tcp: temporal }), host: graphHost(temporal.replace(/:\d+$/, "")) },
    part("engine", engineCheck, STORE),
    part("worker", null, ALL_SERVERS), // it runs the checks itself
    part("sequencer", null, { ...STORE, temporal: "connects_to" }), // without a port; its queue is checked
    part("gateway", serverCheck(settings.SEALOOP_GATEWAY_PORT, "/v1/health"), ALL_SERVERS),
    part("tool-server", serverCheck(settings.SEALOOP_MCP_PORT, "/health"), ALL_SERVERS),
    part("public-ledger", serverCheck(settings.SEALOOP_LEDGER_PORT, "/api/health"), STORE),
  ];
  if (!together) return parts;
  const host: ServiceRecord = { ...part(THIS_HOST, null), type: "host", owner: null };
  const isEmbedded = temporal.endsWith(`:${settings.SEALOOP_TEMPORAL_PORT}`);
  const ui = isEmbedded ? [part("temporal-ui", null, { temporal: "runs_on" })] : [];
  return [host, ...parts, ...ui];
}

function part(name: string, check: Check, needs: Needs = {}): ServiceRecord {
  return {
    name,
    type: "platform",
    host: "localhost",
    owner: "sealoop",
    origin: "platform",
    check,
    restart: null,
    watched: check !== null,
    dependsOn: Object.entries(needs).map(([service, kind]) => ({ service, kind })),
  };
}

/** Adds an edge from each service to the services of type `host` that are its machine. */
export function addHostEdges(services: readonly ServiceRecord[]): ServiceRecord[] {
  const machines = new Map(services.map(({ host }) => [host, ""]));
  for (const host of machines.keys()) machines.set(host, graphHost(host));
  const hosts = services.filter(({ type }) => type === "host");
  return services.map((service) => {
    if (service.type === "host") return service;
    const named = new Set(service.dependsOn.map((dependency) => dependency.service));
    const added = hosts.filter(({ name, host }) =>
      machines.get(host) === machines.get(service.host) && !named.has(name)
    ).map(({ name }): Dependency => ({ service: name, kind: "hosted_on" }));
    return { ...service, dependsOn: [...service.dependsOn, ...added] };
  });
}

/** Returns the name of a host in the graph. */
function graphHost(host: string): string {
  return isThisHost(host) ? "localhost" : host;
}

/** Returns an address of this host at which a server that listens on `bind` can be reached. */
function localAddress(bind: string): string {
  if (bind === "0.0.0.0") return "127.0.0.1";
  if (bind === "::") return "[::1]";
  return bind.includes(":") ? `[${bind}]` : bind;
}

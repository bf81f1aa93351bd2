import { createHash } from "node:crypto";
import type { Config } from "../../config.ts";
import type { Store } from "../../store/mod.ts";
import {
  listServicesWithPorts,
  putDiscoveredServices,
  type ServiceRecord,
} from "../../store/cmdb/mod.ts";
import { createPlatformSocketTest, listPortClaims } from "./ports.ts";
import { type ListeningSocket, listSockets } from "./sockets.ts";

/** Name in the graph of the machine that runs the whole platform. */
export const THIS_HOST = "this-host";

/**
 * Adds the programs that listen on this host as unwatched services of origin `discovered`, and removes those that are
 * gone. Declared ports and the platform's own are skipped; a declared service of the same name is left as it is.
 *
 * @param host name of this host in the graph, see {@linkcode graphHostName}
 * @returns their names
 */
export async function discoverServices(
  config: Pick<Config, "settings" | "dataDir">,
  store: Store,
  host: string,
): Promise<string[]> {
  const claims = listPortClaims(config, await listServicesWithPorts(store.asPlatform()));
  const declared = new Set(claims.map(({ port }) => port));
  const isOurs = createPlatformSocketTest(config.dataDir);
  const sockets = (await listSockets())
    .filter((socket) => !declared.has(socket.port) && !isOurs(socket));
  const services = uniqueByName(sockets.map((socket) => toService(socket, host)));
  await store.asPlatform().transaction((trx) => putDiscoveredServices(trx, host, services));
  return services.map(({ name }) => name);
}

/** Keeps one service of each name: a program may listen on IPv4 and IPv6. */
function uniqueByName(services: readonly ServiceRecord[]): ServiceRecord[] {
  return [...new Map(services.map((service) => [service.name, service])).values()];
}

function toService({ port, program }: ListeningSocket, host: string): ServiceRecord {
  const word = (program ?? "listener").replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^[._-]+/, "")
    .slice(0, 60) || "listener";
  // The same program may listen on the same port of another host. Names of hosts are not public, so a hash tells them apart.
  const where = host === "localhost" ? "" : `-${shortHash(host)}`;
  return {
    name: `${word}-${port}${where}`,
    type: "listener",
    host,
    owner: null,
    origin: "discovered",
    check: null,
    restart: null,
    watched: false,
    ports: [{ port, program: program ?? null }],
    dependsOn: host === "localhost" ? [{ service: THIS_HOST, kind: "hosted_on" }] : [],
  };
}

const shortHash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 6);

/** Returns the name of this host in the graph. @param together whether the whole platform runs on it */
export function graphHostName({ place }: Pick<Config, "place">, together: boolean): string {
  return together ? "localhost" : place;
}

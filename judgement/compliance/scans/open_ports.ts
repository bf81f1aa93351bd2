import { buildPortRegistry, listPortClaims, listSockets } from "../../../integrations/host/mod.ts";
import { listServicesWithPorts } from "../../../store/cmdb/mod.ts";
import type { Scanner, Weakness } from "./_scanner.ts";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Finds ports of this host that are open to the network and that no service declares. */
export const openPorts: Scanner = async ({ config, store }) => {
  const claims = listPortClaims(config, await listServicesWithPorts(store.asPlatform()));
  const entries = buildPortRegistry(claims, await listSockets());
  return entries.flatMap(({ port, claims, sockets }): Weakness[] => {
    const open = sockets.find(({ address }) => !LOOPBACK.test(address));
    if (!open || claims.length > 0) return [];
    const { address, program } = open;
    return [{
      code: "open_port",
      severity: "low",
      summary: `Port ${port} is open to the network, and no service declares it`,
      detail: { port, address, program: program ?? null },
      remedy: `Make ${program ?? "the program"} listen on 127.0.0.1 only, stop it, or add the ` +
        "port to the `ports` of a service in the services file",
      which: String(port),
    }];
  });
};

import {
  buildPortRegistry,
  listeningSockets,
  listPortClaims,
} from "../../integrations/host/mod.ts";
import { listServicesWithPorts } from "../../store/mod.ts";
import type { Scanner } from "./_scanner.ts";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Ports of this host that the network can reach, and that nobody declares. */
export const openPorts: Scanner = async ({ config, store }) => {
  const claims = listPortClaims(config, await listServicesWithPorts(store.asPlatform()));
  const entries = buildPortRegistry(claims, await listeningSockets());
  return entries.flatMap(({ port, claims, sockets }) => {
    const open = sockets.find(({ address }) => !LOOPBACK.test(address));
    if (!open || claims.length > 0) return [];
    return [{
      code: "open_port",
      severity: "low" as const,
      summary: `Port ${port} is open to the network, and no service declares it`,
      detail: { port, address: open.address, program: open.program ?? null },
      remedy:
        `Have ${
          open.program ?? "the program"
        } listen on 127.0.0.1 alone, end it, or name the port among the ` +
        "`ports` of a service in the services file",
      which: String(port),
    }];
  });
};

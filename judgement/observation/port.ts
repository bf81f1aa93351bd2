import { type Observation, say } from "../../contract/domain/mod.ts";
import {
  describeHolder,
  findListener,
  findPortHolder,
  lastManagedProcess,
  readTcpTable,
  type TcpState,
} from "../../integrations/host/mod.ts";
import type { Observer } from "./observer.ts";
import { isForeign, localPortOf } from "./_service_process.ts";

/** Looks who listens on the port of a service's check, and whether connections wait there. */
export const port: Observer = {
  name: "port",
  about:
    "Looks who listens on the port of the check, how many connections wait there, and how many were left half closed",
  isNear: true,
  applies: ({ service, isLocal }) => isLocal && localPortOf(service!) !== undefined,
  async observe({ service }, { config }): Promise<Observation[]> {
    const number = service && localPortOf(service);
    if (!service || number === undefined) return [];
    const [holder, table] = await Promise.all([findListener(number), readTcpTable()]);
    const rows = table.filter(({ local }) => local.port === number);
    const count = (state: TcpState) => rows.filter((row) => row.state === state).length;
    const isKnown = lastManagedProcess(config.dataDir, service.name) !== undefined;
    const figures = {
      port: number,
      listening: holder !== undefined,
      // Whose it is, is known only of processes that the platform has started.
      ...(holder && isKnown ? { foreign: isForeign(config.dataDir, service.name, holder) } : {}),
      waiting: Math.max(
        0,
        ...rows.filter(({ state }) => state === "listening").map(({ queued }) => queued),
      ),
      connections: count("established"),
      half_closed: count("half_closed"),
    };
    const known = holder && await findPortHolder(config.dataDir, number);
    const who = known ? describeHolder(known) : holder?.program ?? say`A program`;
    return [{
      code: holder ? "listens" : "free",
      says: holder
        ? say`${who} listens on port ${number}; ${figures.connections} connections are open, ${figures.waiting} wait to be accepted, ${figures.half_closed} were left half closed.`
        : say`Nobody listens on port ${number}.`,
      figures: {
        ...figures,
        ...(holder?.pid ? { pid: holder.pid } : {}),
        ...(holder?.program ? { program: holder.program } : {}),
      },
    }];
  },
};

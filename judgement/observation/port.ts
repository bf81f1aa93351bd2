import { readFile } from "node:fs/promises";
import type { Observation } from "../../contract/domain/mod.ts";
import { findListener, lastManagedProcess } from "../../integrations/host/mod.ts";
import type { Observer } from "./observer.ts";
import { isForeign, localPortOf } from "./_service_process.ts";

/** States of connections, as `/proc/net/tcp` numbers them. @see proc_pid_net(5) */
const ESTABLISHED = "01";
const CLOSE_WAIT = "08";
const LISTEN = "0A";

/** Looks who listens on the port of a service's check, and whether connections wait there. */
export const port: Observer = {
  name: "port",
  about:
    "Looks who listens on the port of the check, how many connections wait there, and how many were left half closed",
  async observe({ service, isLocal }, { config }): Promise<Observation[]> {
    const number = service && isLocal ? localPortOf(service) : undefined;
    if (!service || number === undefined) return [];
    const [holder, rows] = await Promise.all([findListener(number), readRows(number)]);
    const count = (state: string) => rows.filter((row) => row.state === state).length;
    const isKnown = lastManagedProcess(config.dataDir, service.name) !== undefined;
    const figures = {
      listening: holder !== undefined,
      // Whose it is, is known only of processes that the platform has started.
      ...(holder && isKnown ? { foreign: isForeign(config.dataDir, service.name, holder) } : {}),
      waiting: Math.max(
        0,
        ...rows.filter(({ state }) => state === LISTEN).map(({ queued }) => queued),
      ),
      connections: count(ESTABLISHED),
      half_closed: count(CLOSE_WAIT),
    };
    const who = holder &&
      `${holder.program ?? "A program"}${holder.pid ? ` (process ${holder.pid})` : ""}`;
    return [{
      code: holder ? "listens" : "free",
      says: holder
        ? `${who} listens on port ${number}; ${figures.connections} connections are open, ` +
          `${figures.waiting} wait to be accepted, ${figures.half_closed} were left half closed.`
        : `Nobody listens on port ${number}.`,
      figures: {
        ...figures,
        ...(holder?.pid ? { pid: holder.pid } : {}),
        ...(holder?.program ? { program: holder.program } : {}),
      },
    }];
  },
};

async function readRows(number: number) {
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((path) => readFile(path, "utf8").catch(() => "")),
  );
  return tables.flatMap((table) => table.split("\n").slice(1)).map((line) =>
    line.trim().split(/\s+/)
  )
    .filter(([, local]) => local && Number.parseInt(local.split(":")[1]!, 16) === number)
    .map((fields) => ({
      state: fields[3]!,
      queued: Number.parseInt(fields[4]!.split(":")[1]!, 16),
    }));
}

import { z } from "zod";
import type { Config } from "../../config.ts";
import { readCredential } from "../channels/mod.ts";
import { openRemoteClient, type RemoteClient } from "../remote/mod.ts";

/** A machine that a Fleet manages. */
export interface FleetHost {
  readonly id: number;
  readonly name: string;
  readonly platform: string;
  readonly os: string | null;
  readonly isOnline: boolean;
  readonly version: string | null;
  readonly seenAt: string | null;
}

/** Numbers of machines. */
interface FleetCounts {
  readonly total: number;
  readonly online: number;
  readonly offline: number;
}

/** Run of a script, as Fleet knows it. */
interface FleetRun {
  /** Null: the machine has not said yet. */
  readonly exitCode: number | null;
}

/** A Fleet of the operator's. */
export interface RmmClient {
  /** @throws {RemoteFailed} */
  count(): Promise<FleetCounts>;
  /** Returns the first machines by their names. @throws {RemoteFailed} */
  listHosts(): Promise<FleetHost[]>;
  /** Returns a saved script's name. @throws {RemoteFailed} `refused`: there is none */
  findScript(id: number): Promise<{ readonly name: string }>;
  /** Returns a machine's name. @throws {RemoteFailed} `refused`: there is none */
  findHost(id: number): Promise<{ readonly name: string }>;
  /** Has a machine run a saved script, with one attempt. @returns the run's id @throws {RemoteFailed} */
  runScript(hostId: number, scriptId: number): Promise<string>;
  /** @throws {RemoteFailed} */
  readRun(executionId: string): Promise<FleetRun>;
  /** As a client's. */
  pause(): string | undefined;
}

const PAGE = 100;
const MAX_PAGES = 3;

const Text = z.string().max(2_000).transform((text) => text.slice(0, 200));
const Host = z.object({
  id: z.number().int().min(1),
  hostname: Text,
  display_name: Text.optional(),
  platform: Text,
  os_version: Text.nullish(),
  status: Text,
  osquery_version: Text.nullish(),
  seen_time: z.iso.datetime({ offset: true }).nullish(),
});
const Count = z.number().int().min(0);
const Summary = z.object({
  totals_hosts_count: Count,
  online_count: Count,
  offline_count: Count,
});
const Started = z.object({ execution_id: z.string().regex(/^[\w-]{1,100}$/) });
const Run = z.object({ exit_code: z.number().int().nullable() });

/** Opens the client of a Fleet, if its URL is set. @see https://fleetdm.com/docs/rest-api/rest-api */
export function openFleet(config: Config): RmmClient | undefined {
  const { SEALOOP_FLEET_URL: url } = config.settings;
  if (url === undefined) return undefined;
  const client = openRemoteClient({
    system: "Fleet",
    url: `${url}/api/v1/fleet`,
    credential: () => ({ authorization: `Bearer ${readCredential(config, "fleet")}` }),
  });
  const get = <Answer>(path: string, answer: z.ZodType<Answer>) =>
    client.read({ method: "GET", path, answer });
  return {
    async count() {
      const summary = await get("/host_summary", Summary);
      return {
        total: summary.totals_hosts_count,
        online: summary.online_count,
        offline: summary.offline_count,
      };
    },
    listHosts: () => listHosts(client),
    findScript: (id) => get(`/scripts/${id}`, z.object({ name: Text })),
    async findHost(id) {
      const { host } = await get(`/hosts/${id}`, z.object({ host: Host }));
      return { name: host.display_name ?? host.hostname };
    },
    async runScript(hostId, scriptId) {
      const { execution_id } = await client.act({
        method: "POST",
        path: "/scripts/run",
        body: { host_id: hostId, script_id: scriptId },
        answer: Started,
      });
      return execution_id;
    },
    async readRun(executionId) {
      const { exit_code } = await get(`/scripts/results/${executionId}`, Run);
      return { exitCode: exit_code };
    },
    pause: client.pause,
  };
}

async function listHosts(client: RemoteClient): Promise<FleetHost[]> {
  const hosts: FleetHost[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const { hosts: found } = await client.read({
      method: "GET",
      path: `/hosts?page=${page}&per_page=${PAGE}&order_key=hostname`,
      answer: z.object({ hosts: z.array(Host) }),
    });
    hosts.push(...found.map((host) => ({
      id: host.id,
      name: host.display_name ?? host.hostname,
      platform: host.platform,
      os: host.os_version ?? null,
      isOnline: host.status === "online",
      version: host.osquery_version ?? null,
      seenAt: host.seen_time ?? null,
    })));
    if (found.length < PAGE) break;
  }
  return hosts;
}

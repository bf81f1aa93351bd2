/** Processes of the platform on a cluster, each started and stopped alone, with ports that stay. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../config.ts";
import { PROCESS_NAMES } from "../../contract/domain/mod.ts";
import { type Name, startProcess, type TestProcess } from "../processes/_process.ts";
import { program } from "../_programs.ts";
import { freePort, testFolder } from "../_run.ts";
import type { TestDatabase, TestTemporal } from "../_servers.ts";
import { eventually } from "../_time.ts";
import type { Backend } from "./_haproxy.ts";

/** Ports of the servers by their settings. */
const PORTS: Partial<Record<Name, string>> = {
  gateway: "SEALOOP_GATEWAY_PORT",
  mcp: "SEALOOP_MCP_PORT",
  engine: "SEALOOP_ENGINE_PORT",
  ledger: "SEALOOP_LEDGER_PORT",
};

/** A process that can be started again, at the same ports. */
export interface Member extends Backend {
  readonly name: Name;
  /** The process that runs now. */
  current(): TestProcess;
  /** Starts it, and waits until it is ready. @returns milliseconds */
  start(): Promise<number>;
  /** Ends it by SIGTERM, as a rolling restart does. @returns milliseconds */
  stop(): Promise<number>;
  kill(): Promise<void>;
}

/** Servers that the members use. */
export interface ClusterPlace {
  readonly database: Pick<TestDatabase, "urls">;
  readonly temporal: TestTemporal;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Settings that all members share. */
export function sharedSettings(): Readonly<Record<string, string>> {
  return {
    SEALOOP_ENGINE_SECRET: randomBytes(24).toString("hex"),
    SEALOOP_WEBHOOK_KEY: randomBytes(32).toString("hex"),
    SEALOOP_OTS_CALENDARS: "none",
    SEALOOP_BITCOIN_SOURCES: "none",
  };
}

/** Prepares a database and Temporal by `npm run setup`. @returns the admin key */
export async function setUp({ database, temporal, settings }: ClusterPlace): Promise<string> {
  const folder = await testFolder();
  await promisify(execFile)(process.execPath, [await program("processes/commands/setup.ts")], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...settings,
      SEALOOP_DATA: folder,
      DATABASE_URL: database.urls.owner,
      SEALOOP_DATABASE_OPERATOR_URL: database.urls.operator,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
    },
  });
  return (await readFile(join(folder, "admin.key"), "utf8")).trim();
}

/** Describes a process that is not started yet. @param folder default: one of its own */
export async function addMember(
  name: Name,
  { database, temporal, settings = {} }: ClusterPlace,
  folder?: string,
): Promise<Member> {
  const [port, probe] = [await freePort(), await freePort()];
  const dataDir = folder ?? await testFolder();
  let running: TestProcess | undefined;
  const all = {
    ...settings,
    ...PORTS[name] && { [PORTS[name]]: String(port) },
    SEALOOP_METRICS: String(probe - PROCESS_NAMES.indexOf(name)),
  };
  return {
    name,
    port,
    probe,
    current: () => running!,
    async start() {
      const startedMs = performance.now();
      running = await startProcess(name, { database, temporal, folder: dataDir, settings: all });
      await running.line(/^ready$/);
      await eventually(() => isReady(probe));
      return performance.now() - startedMs;
    },
    async stop() {
      const startedMs = performance.now();
      const { code, failures } = await running!.terminate();
      if (code !== 0 || failures.length > 0) {
        throw new Error(`The ${name} ended with ${code}: ${failures.join("; ")}`);
      }
      await running!.kill(); // closes its ways to the servers
      return performance.now() - startedMs;
    },
    async kill() {
      await running?.kill();
      running = undefined;
    },
  };
}

/** Returns true where a probe says that its process does its work. */
async function isReady(probe: number): Promise<true | undefined> {
  const answer = await fetch(`http://127.0.0.1:${probe}/readyz`).catch(() => undefined);
  return answer?.ok || undefined;
}

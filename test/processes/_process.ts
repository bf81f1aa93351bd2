/** Processes of the platform, each with ways of its own to the database and to Temporal, which a test can cut. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { ROOT } from "../../config.ts";
import { withTimeout } from "../../contract/mod.ts";
import { PROCESS_NAMES } from "../../contract/domain/mod.ts";
import { program } from "../_programs.ts";
import { freePort, TEST_DETECTORS } from "../_run.ts";
import type { TestDatabase, TestTemporal } from "../_servers.ts";
import { type Forwarding, forwardTo } from "../runtime/temporal/_forwarding.ts";

/** Name of a process of the platform. */
export type Name = typeof PROCESS_NAMES[number];

/** Servers, and the data folder, of the processes. */
export interface Place {
  readonly database: Pick<TestDatabase, "urls">;
  readonly temporal: TestTemporal;
  readonly folder: string;
  /** Servers that are away from the beginning. */
  readonly cut?: readonly ("database" | "temporal")[];
  /** Further settings. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Returns the command that runs a program elsewhere, such as in a namespace. @param ports of the ways to its servers */
  readonly runAt?: (program: readonly string[], ports: readonly number[]) => readonly string[];
}

/** A line of a log. */
interface Line {
  readonly msg: string;
  readonly err?: { readonly message: string };
}

/** A running process. */
export interface TestProcess {
  readonly name: Name;
  readonly pid: number;
  readonly database: Forwarding;
  readonly temporal: Forwarding;
  /** Returns the first line of its log with such a message, once there is one. */
  line(message: RegExp): Promise<Line>;
  /** Returns the status of its health check, and the reason; undefined: it serves nothing. */
  health(): Promise<
    | { readonly status: number; readonly connection: string | null; readonly detail?: string }
    | undefined
  >;
  /** Returns the codes of why it would not do its work now; empty: it would; undefined: it serves nothing. */
  unready(): Promise<readonly string[] | undefined>;
  /** Sends SIGTERM. @returns the exit code once it has ended, and what failed meanwhile */
  terminate(): Promise<{ readonly code: number | null; readonly failures: readonly string[] }>;
  kill(): Promise<void>;
}

/** Paths of health checks. The other processes serve nothing. */
export const HEALTH: { readonly [N in Name]?: string } = {
  gateway: "/v1/health",
  mcp: "/health",
  engine: "/health",
  ledger: "/api/health",
};

/** Time in which something has to happen. */
const MAX_WAIT_MS = 90_000;
/** Time from SIGTERM to the end: the process takes eight seconds at most, and a busy machine some. */
const MAX_STOP_MS = 12_000;
const FAILURE = /^Something failed while stopping/;

/** Starts a process. */
export async function startProcess(
  name: Name,
  { database, temporal, folder, cut = [], settings = {}, runAt = (program) => program }: Place,
): Promise<TestProcess> {
  const role = name === "mcp" ? "tools" : name;
  const url = new URL(database.urls[role]);
  const ways = {
    database: await forwardTo(Number(url.port)),
    temporal: await forwardTo(Number(temporal.address.split(":")[1])),
  };
  for (const server of cut) ways[server].cut();
  url.port = String(ways.database.port);
  const port = await freePort();
  const monitoringPort = await freePort();
  const [command, ...args] = runAt(
    [process.execPath, await program(`processes/${name}.ts`)],
    [ways.database.port, ways.temporal.port],
  );
  const child = spawn(command!, args, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      SEALOOP_DATA: folder,
      SEALOOP_DETECTORS: TEST_DETECTORS,
      [`SEALOOP_DATABASE_${role.toUpperCase()}_URL`]: url.href,
      ...HEALTH[name] && { [`SEALOOP_${name.toUpperCase()}_PORT`]: String(port) },
      TEMPORAL_ADDRESS: `127.0.0.1:${ways.temporal.port}`,
      TEMPORAL_NAMESPACE: temporal.namespace,
      // The port of the gateway's; the others take the next ones.
      SEALOOP_METRICS: String(monitoringPort - PROCESS_NAMES.indexOf(name)),
      ...settings,
    },
  });
  const lines: Line[] = [];
  const output = createInterface(child.stdout).on("line", (text) => {
    lines.push(JSON.parse(text));
    output.emit("logged");
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  const endedEarly = ended.then(() => Promise.reject(new Error("It has ended")));
  endedEarly.catch(() => {});

  /** Waits for something. Fails with the log if it doesn't happen in time. */
  async function within<T>(timeoutMs: number, complaint: string, work: Promise<T>): Promise<T> {
    return await withTimeout(timeoutMs, work).catch((cause) => {
      const log = lines.map((line) => JSON.stringify(line)).join("\n");
      throw new Error(`The ${name} ${complaint}; its log:\n${log}`, { cause });
    });
  }

  async function findLine(message: RegExp): Promise<Line> {
    for (;;) {
      const found = lines.find(({ msg }) => message.test(msg));
      if (found) return found;
      await Promise.race([once(output, "logged"), endedEarly]);
    }
  }

  return {
    name,
    pid: child.pid!,
    ...ways,
    line: (message) => within(MAX_WAIT_MS, `logs no ${message}`, findLine(message)),
    async health() {
      if (!HEALTH[name]) return undefined;
      const response = await fetch(`http://127.0.0.1:${port}${HEALTH[name]}`).catch(noAnswer);
      if (!response) return undefined;
      const { detail } = await response.json() as { detail?: string };
      const connection = response.headers.get("connection");
      return { status: response.status, connection, detail };
    },
    async unready() {
      const response = await fetch(`http://127.0.0.1:${monitoringPort}/readyz`).catch(noAnswer);
      if (!response) return undefined;
      const { ready, reasons } = await response.json() as {
        ready: boolean;
        reasons: { code: string }[];
      };
      assert.deepEqual([response.status, ready], reasons.length === 0 ? [200, true] : [503, false]);
      return reasons.map(({ code }) => code);
    },
    async terminate() {
      child.kill("SIGTERM");
      const [code] = await within(MAX_STOP_MS, "does not end", ended);
      const failures = lines.filter(({ msg }) => FAILURE.test(msg)).map(({ err }) => err!.message);
      return { code, failures };
    },
    async kill() {
      child.kill("SIGKILL");
      await Promise.all([ended, ways.database.close(), ways.temporal.close()]);
    },
  };
}

/** Takes it for no answer where nobody listens, or the server has just ended an idle connection. */
function noAnswer(error: Error & { readonly cause?: { readonly code?: string } }): undefined {
  const code = error.cause?.code ?? "";
  if (!["ECONNREFUSED", "ECONNRESET", "UND_ERR_SOCKET"].includes(code)) throw error;
}

/** A whole gateway of a test: the real platform on a database of its own, with operations of the test's besides. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Platform } from "../../calls/mod.ts";
import { loadConfig } from "../../config.ts";
import type { Operation } from "../../contract/mod.ts";
import { operations } from "../../operations/mod.ts";
import { createGatewayApp, openPlatform } from "../../processes/mod.ts";
import type { NewKey } from "../../store/keys/mod.ts";
import { createLog, serve } from "../../runtime/web/mod.ts";
import { checkAnswers } from "../_described_answers.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { giveKey } from "../_superuser.ts";

/** An answer of JSON. */
export interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- the tests look into it
  readonly body: any;
}

/** A gateway that listens. */
export interface TestGateway {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly platform: Platform;
  /** Its database, by role. */
  readonly urls: TestDatabase["urls"];
  /** All that it has logged so far, a JSON object a line. */
  readonly log: () => string;
  /** Issues a key, of tier partner and scope full unless it says otherwise. */
  key(fields?: Partial<NewKey>): Promise<string>;
  /** Sends a request with a key and, where it has one, a body of JSON. */
  call(key: string, method: string, path: string, body?: object): Promise<Answer>;
  /** Lets calls that wait be answered, as the process does before it stops listening. */
  endWaits(): void;
  /** Stops listening as the process does when it stops. */
  drain(deadlineMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Reads the views of all integrations, until no look took too long, as on a busy machine. */
export async function readViews(read: (path: string) => Promise<Answer["body"]>) {
  for (;; await sleep(1_000)) {
    const body = await read("all");
    const details = body.integrations.map(({ detail }: { detail: string }) => detail);
    if (!/No answer within|in time/.test(details.join())) return body;
  }
}

/** Ports that nothing listens on, also where a platform runs on this machine. */
const AWAY = { SEALOOP_ENGINE_PORT: "1", SEALOOP_TEMPORAL_PORT: "2" };

/** Starts one. @param options `settings` by the names of environment variables; `port`: any free one by default */
export async function startGateway(
  { extra = [], settings = {}, port = 0 }: {
    extra?: readonly Operation<Platform>[];
    settings?: Readonly<Record<string, string>>;
    port?: number;
  } = {},
): Promise<TestGateway> {
  const database: TestDatabase = await testDatabase();
  const config = loadConfig({ ...AWAY, ...settings });
  let logged = "";
  const log = createLog("test", "debug", { write: (line) => void (logged += line) });
  const databaseUrl = (role: keyof TestDatabase["urls"]) => database.urls[role];
  const open = await openPlatform({ config, log, databaseUrl }, "gateway");
  const { platform } = open;
  const all = extra.length > 0 ? [...operations, ...extra] : operations;
  const app = createGatewayApp(open, all);
  checkAnswers(app, all);
  const server = await serve(app, config.settings, port);
  return {
    url: server.address,
    port: server.port,
    platform,
    urls: database.urls,
    log: () => logged,
    async key(fields = {}) {
      const { key } = await giveKey(platform.store, fields);
      return key;
    },
    async call(key, method, path, body) {
      const response = await fetch(server.address + path, {
        method,
        headers: { "x-api-key": key, "content-type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return { status: response.status, body: await response.json() };
    },
    endWaits: open.endWaits,
    drain: (deadlineMs) => server.close(deadlineMs),
    async stop() {
      await server.close(0);
      await open.close();
      await database.drop();
    },
  };
}

/**
 * n8n from its npm package, run on loopback with a database of the tests' PostgreSQL. One of its packages is not in the
 * registry, and another version stands in: no test reads spreadsheets.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import pg from "pg";
import { freePort, testFolder } from "../_run.ts";
import { testPostgres } from "../_servers.ts";

/** An n8n of a test, with a key of its owner's. */
export interface TestN8n {
  readonly url: string;
  readonly apiKey: string;
  /** Adds a workflow, active. @returns its id */
  addWorkflow(name: string, nodes: readonly object[]): Promise<string>;
  close(): Promise<void>;
}

/** Starts n8n and sets it up. @param folder that it is installed in */
export async function startN8n(folder: string): Promise<TestN8n> {
  const database = `n8n_${randomBytes(4).toString("hex")}`;
  const { superuserUrl } = await testPostgres();
  const admin = new pg.Client(superuserUrl);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${database}`);
  const { hostname, port: databasePort, username, password } = new URL(superuserUrl);
  const [port, broker] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  let output = "";
  const server = spawn(process.execPath, [
    join(folder, "node_modules", "n8n", "bin", "n8n"),
    "start",
  ], {
    env: {
      PATH: process.env.PATH,
      N8N_USER_FOLDER: await testFolder(),
      N8N_PORT: String(port),
      N8N_LISTEN_ADDRESS: "127.0.0.1",
      N8N_RUNNERS_BROKER_PORT: String(broker),
      N8N_DIAGNOSTICS_ENABLED: "false",
      N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
      N8N_TEMPLATES_ENABLED: "false",
      N8N_PERSONALIZATION_ENABLED: "false",
      N8N_SECURE_COOKIE: "false",
      N8N_EXPRESSION_ENGINE: "legacy", // the other one is native code that would have to be built
      DB_TYPE: "postgresdb",
      DB_POSTGRESDB_HOST: hostname,
      DB_POSTGRESDB_PORT: databasePort,
      DB_POSTGRESDB_USER: decodeURIComponent(username),
      DB_POSTGRESDB_PASSWORD: decodeURIComponent(password),
      DB_POSTGRESDB_DATABASE: database,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => output += text);
  const ended = once(server, "exit");
  const close = async () => {
    server.kill();
    await ended;
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await admin.end();
  };
  try {
    await untilReady(`${url}/rest/settings`, () => server.exitCode !== null);
    const apiKey = await setUp(url);
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { "x-n8n-api-key": apiKey, "content-type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      return await response.json() as { id: string };
    };
    return {
      url,
      apiKey,
      close,
      async addWorkflow(name, nodes) {
        const workflow = { name, nodes, connections: {}, settings: {} };
        const { id } = await call("POST", "/workflows", workflow);
        await call("POST", `/workflows/${id}/activate`);
        return id;
      },
    };
  } catch (error) {
    await close();
    throw new Error(`n8n did not start: ${(error as Error).message}\n${output.slice(-2_000)}`);
  }
}

async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  for (let n = 0; n < 600 && !hasEnded(); n++) {
    const response = await fetch(url).catch(() => undefined);
    // While it starts, it answers everything with a sentence.
    if (response?.headers.get("content-type")?.includes("json")) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error("it is not ready");
}

/** Makes the owner, as the first page of n8n does. @returns a key of theirs */
async function setUp(url: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const owner = {
    email: "owner@example.com",
    firstName: "Ada",
    lastName: "Test",
    password: `Aa1${randomBytes(12).toString("hex")}`,
  };
  const made = await fetch(`${url}/rest/owner/setup`, {
    method: "POST",
    headers,
    body: JSON.stringify(owner),
  });
  if (!made.ok) throw new Error(`the owner's setup answered ${made.status}: ${await made.text()}`);
  const cookie = made.headers.getSetCookie().map((one) => one.split(";")[0]).join("; ");
  const scopes = [
    "workflow:create",
    "workflow:list",
    "workflow:read",
    "workflow:activate",
    "execution:list",
    "execution:read",
  ];
  const keyed = await fetch(`${url}/rest/api-keys`, {
    method: "POST",
    headers: { ...headers, cookie },
    body: JSON.stringify({ label: "test", scopes, expiresAt: null }),
  });
  const text = await keyed.text();
  if (!keyed.ok) throw new Error(`the key answered ${keyed.status}: ${text}`);
  return JSON.parse(text).data.rawApiKey;
}

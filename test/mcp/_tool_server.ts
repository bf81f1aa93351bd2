/** A tool server of a test: the real platform on a database of its own, with additional operations. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Client as Temporal } from "@temporalio/client";
import type { Platform } from "../../calls/mod.ts";
import { loadConfig } from "../../config.ts";
import type { Operation } from "../../contract/mod.ts";
import type { SessionTiming } from "../../mcp/mod.ts";
import { operations } from "../../operations/mod.ts";
import { openPlatform, openToolServer } from "../../processes/mod.ts";
import type { NewKey } from "../../store/keys/mod.ts";
import { createLog, serve } from "../../runtime/web/mod.ts";
import { allowTools } from "../_governance.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { giveKey } from "../_superuser.ts";

/** A running tool server. */
export interface TestToolServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly database: TestDatabase;
  readonly platform: Platform;
  /** Issues a key, of tier partner and scope full unless it says otherwise. */
  key(fields?: Partial<NewKey>): Promise<{ key: string; id: string }>;
  /** Closes the sessions, as the process does when it stops. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one. @param settings by the names of environment variables */
export async function startToolServer(
  { extra = [], settings = {}, timing, on, temporal }: {
    extra?: readonly Operation<Platform>[];
    settings?: Readonly<Record<string, string>>;
    timing?: SessionTiming;
    /** An existing database, which is not dropped. */
    on?: TestDatabase;
    /** Default: the server that the environment names. */
    temporal?: Temporal;
  } = {},
): Promise<TestToolServer> {
  const database = on ?? await testDatabase();
  const config = loadConfig({ SEALOOP_LOG_LEVEL: "silent", ...settings });
  const log = createLog("test", config.settings.SEALOOP_LOG_LEVEL);
  const databaseUrl = (role: keyof TestDatabase["urls"]) => database.urls[role];
  const given = temporal ? { temporal: () => Promise.resolve(temporal) } : {};
  const open = await openPlatform({ config, log, databaseUrl }, "tools", given);
  const { platform } = open;
  const tools = await openToolServer(open, { operations: [...operations, ...extra], timing });
  const testOperations = extra.map(({ name }) => name);
  if (testOperations.length > 0) await allowTools(platform.store, testOperations);
  const server = await serve(tools.app, config.settings, 0);
  return {
    url: server.address,
    database,
    platform,
    async key(fields = {}) {
      const { key, record } = await giveKey(platform.store, fields);
      return { key, id: record.id };
    },
    drain: () => tools.drain(),
    async stop() {
      await tools.drain(0);
      await server.close(0);
      await tools.close();
      await open.close();
      if (!on) await database.drop();
    },
  };
}

/** Connects the SDK's own client over its own SSE transport. */
export async function connect(url: string, key: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(new SSEClientTransport(new URL(`${url}/sse`), { requestInit: { headers } }));
  return client;
}

/** Connects the same client over Streamable HTTP. @param query of the address, with its question mark */
export async function connectHttp(url: string, key: string, query = ""): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const headers = { authorization: `Bearer ${key}` };
  const address = new URL(`${url}/mcp${query}`);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  return client;
}

/** An event stream without the SDK. */
export interface Stream {
  readonly response: Response;
  /** The path for messages. */
  readonly endpoint: string;
  /** Returns the raw text of the next event or comment; undefined at the stream's end. */
  next(): Promise<string | undefined>;
  /** Returns the next message, past the comments that keep a stream alive; undefined at the stream's end. */
  message(): Promise<Json>;
  close(): void;
}

/** Opens a stream and reads its first event. */
export async function openStream(url: string, key: string): Promise<Stream> {
  const end = new AbortController();
  const response = await fetch(`${url}/sse`, {
    headers: { authorization: `Bearer ${key}` },
    signal: end.signal,
  });
  const events = blocks(response.body!);
  const next = async () => (await events.next()).value as string | undefined;
  const first = await next();
  const endpoint = /^event: endpoint\ndata: (.+)$/.exec(first ?? "")?.[1] ?? `not one: ${first}`;
  return {
    response,
    endpoint,
    next,
    async message() {
      for (let text = await next(); text !== undefined; text = await next()) {
        const [, data] = text.split("data: ");
        if (data) return JSON.parse(data);
      }
      return undefined;
    },
    close: () => end.abort(),
  };
}

async function* blocks(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let at = text.indexOf("\n\n"); at >= 0; at = text.indexOf("\n\n")) {
      yield text.slice(0, at);
      text = text.slice(at + 2);
    }
  }
}

/** Posts a message. */
export function post(
  url: string,
  endpoint: string,
  key: string | undefined,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const authorization: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
  return fetch(`${url}${endpoint}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization, ...headers },
    body,
  });
}

// deno-lint-ignore no-explicit-any -- whatever came over the wire
export type Json = any;

/** Parses the body of a response. */
export function jsonOf(response: Response): Promise<Json> {
  return response.json() as Promise<Json>;
}

/** Gets and parses the body at an address. */
export async function getJson(url: string): Promise<Json> {
  return await jsonOf(await fetch(url));
}

/** Shared by tests of A2A: a platform with a service that is down, and a client that returns what comes over the wire. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { putService } from "../../store/cmdb/mod.ts";
import { openLoop, type TestLoop, type Watch } from "../workflows/_loop.ts";
import { startToolServer, type TestToolServer } from "./_tool_server.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
export type Json = any;

/** A client of A2A 0.3. */
export interface A2aClient {
  /** Posts a body as it is. */
  send(body: string, headers?: Record<string, string>): Promise<Response>;
  /** Returns the response to a request, which must come with HTTP 200. */
  ask(method: string, params?: unknown): Promise<Json>;
  /** Returns the results of a stream's events, once it has ended. */
  stream(method: string, params: unknown): Promise<Json[]>;
  /** Opens a stream. @returns the function that waits for its end and returns the results */
  follow(method: string, params: unknown): Promise<() => Promise<Json[]>>;
  /** Returns a task, once it is in one of these states. */
  until(id: string, states: readonly string[]): Promise<Json>;
}

/** Creates a client. @param url of the tool server */
export function a2aClient(url: string, key: string): A2aClient {
  const send: A2aClient["send"] = (body, headers = {}) =>
    fetch(`${url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
      body,
    });
  const ask: A2aClient["ask"] = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: "1", method, params });
    const response = await send(body, { accept: "application/json" });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const answer = JSON.parse(text);
    assert.equal(answer.id, "1");
    return answer;
  };
  const follow: A2aClient["follow"] = async (method, params) => {
    const response = await send(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }));
    assert.match(response.headers.get("content-type")!, /^text\/event-stream/);
    return async () => {
      const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
      return lines.map((line) => JSON.parse(line.slice(6))).map(({ id, result }) => {
        assert.equal(id, 7);
        return result;
      });
    };
  };
  const stream: A2aClient["stream"] = async (method, params) =>
    await (await follow(method, params))();
  return {
    send,
    ask,
    stream,
    follow,
    async until(id, states) {
      const events = await stream("tasks/resubscribe", { id });
      const { result } = await ask("tasks/get", { id });
      assert.ok(states.includes(result.status.state), JSON.stringify([result.status, events]));
      return result;
    },
  };
}

/** Returns a message with a text. */
export const message = (text: string, more: object = {}): Json => ({
  kind: "message",
  messageId: randomUUID(),
  role: "user",
  parts: [{ kind: "text", text }],
  ...more,
});

/** Returns the parameters of a message that calls a skill. */
export const skill = (name: string, input: object = {}, configuration?: object): Json => ({
  message: message("", { parts: [{ kind: "data", data: { skill: name, arguments: input } }] }),
  ...(configuration ? { configuration } : {}),
});

/** Configuration of a message whose sender waits until the task has ended or needs input. */
export const BLOCKING = { blocking: true };

/** The platform and tool server of a file of tests, with a key. */
export interface A2aWorld {
  readonly loop: TestLoop;
  readonly server: TestToolServer;
  readonly key: string;
  /** Returns a client with another key. */
  client(key: string): A2aClient;
  readonly send: A2aClient["send"];
  readonly stream: A2aClient["stream"];
  readonly follow: A2aClient["follow"];
  ask(method: string, params?: unknown, key?: string): Promise<Json>;
  /** Sends a text. @param more fields of the message */
  say(text: string, more?: object, configuration?: object, key?: string): Promise<Json>;
}

/** Opens a platform before the tests of the calling suite, and closes it after them. @param watch sees its activities */
export function a2aWorld(watch?: Watch): A2aWorld {
  let loop: TestLoop;
  let server: TestToolServer;
  let key: string;

  before(async () => {
    loop = await openLoop(watch ? { watch } : {});
    server = await startToolServer({
      on: loop.database,
      temporal: loop.client,
      settings: { SEALOOP_LIMIT_TOOLS: "10000" },
    });
    key = (await server.key()).key;
    await putService(loop.store.asPlatform(), {
      name: "billing",
      type: "web",
      host: "localhost",
      owner: null,
      origin: "file",
      check: { tcp: "127.0.0.1:1" },
      restart: null,
      watched: false,
      dependsOn: [],
      runbook: null,
      ports: [],
    } as never);
  });
  after(async () => {
    await server?.stop();
    await loop?.stop();
  });

  const client = (as = key) => a2aClient(server.url, as);
  const ask: A2aWorld["ask"] = (method, params, as) => client(as).ask(method, params);
  return {
    get loop() {
      return loop;
    },
    get server() {
      return server;
    },
    get key() {
      return key;
    },
    client,
    ask,
    send: (body, headers) => client().send(body, headers),
    stream: (method, params) => client().stream(method, params),
    follow: (method, params) => client().follow(method, params),
    say: (text, more = {}, configuration, as) =>
      ask("message/send", { message: message(text, more), configuration }, as),
  };
}

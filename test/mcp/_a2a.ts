/** A client of A2A 0.3 that shows what comes over the wire. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

// deno-lint-ignore no-explicit-any -- what comes over the wire is looked at, not trusted
type Json = any;

/** Such a client. */
export interface A2aClient {
  /** Posts a body as it is. */
  send(body: string, headers?: Record<string, string>): Promise<Response>;
  /** The envelope that answers a request, on HTTP 200. */
  ask(method: string, params?: unknown): Promise<Json>;
  /** The results of a stream's events, until it ends. */
  stream(method: string, params: unknown): Promise<Json[]>;
  /** A task, when it has come into one of these states. */
  until(id: string, states: readonly string[]): Promise<Json>;
}

/** Makes one. @param url of the tool server */
export function a2aClient(url: string, key: string): A2aClient {
  const send: A2aClient["send"] = (body, headers = {}) =>
    fetch(`${url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
      body,
    });
  const ask: A2aClient["ask"] = async (method, params) => {
    const response = await send(JSON.stringify({ jsonrpc: "2.0", id: "1", method, params }));
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const answer = JSON.parse(text);
    assert.equal(answer.id, "1");
    return answer;
  };
  const stream: A2aClient["stream"] = async (method, params) => {
    const response = await send(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }));
    assert.match(response.headers.get("content-type")!, /^text\/event-stream/);
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
    return lines.map((line) => JSON.parse(line.slice(6))).map(({ id, result }) => {
      assert.equal(id, 7);
      return result;
    });
  };
  return {
    ...{ send, ask, stream },
    async until(id, states) {
      const events = await stream("tasks/resubscribe", { id });
      const { result } = await ask("tasks/get", { id });
      assert.ok(states.includes(result.status.state), JSON.stringify([result.status, events]));
      return result;
    },
  };
}

/** A message that says something. */
export const message = (text: string, more: object = {}): Json => ({
  ...{ kind: "message", messageId: randomUUID(), role: "user" },
  ...{ parts: [{ kind: "text", text }], ...more },
});

/** Parameters of a message that calls a skill. */
export const skill = (name: string, input: object = {}, configuration?: object): Json => ({
  message: message("", { parts: [{ kind: "data", data: { skill: name, arguments: input } }] }),
  ...(configuration ? { configuration } : {}),
});

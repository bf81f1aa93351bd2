import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { slow } from "./_operations.ts";
import { getJson, type Json, post, startToolServer, type TestToolServer } from "./_tool_server.ts";
import { takeKey } from "../_superuser.ts";

const BOTH = { accept: "application/json, text/event-stream" };
const message = (method: string, params?: unknown, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const INITIALIZE = message("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});
const PING = message("ping");

describe("a session over Streamable HTTP", () => {
  let server: TestToolServer;
  let key: string;
  before(async () => {
    server = await startToolServer({
      extra: [slow],
      settings: { SEALOOP_LIMIT_TOOLS: "10000" },
    });
    ({ key } = await server.key());
  });
  after(() => server.stop());

  const send = (body: string, headers: Record<string, string> = {}, as: string | undefined = key) =>
    post(server.url, "/mcp", as, body, { ...BOTH, ...headers });
  const open = async () => {
    const response = await send(INITIALIZE);
    await response.text();
    return { "mcp-session-id": response.headers.get("mcp-session-id")! };
  };
  const eventsOf = (text: string): Json[] =>
    text.split("\n\n").flatMap((block) => {
      const data = /^data: (.+)$/m.exec(block)?.[1];
      return data ? [{ id: /^id: (.+)$/m.exec(block)?.[1], ...JSON.parse(data) }] : [];
    });

  it("is open to its own key alone", async () => {
    const session = await open();
    const none = await fetch(`${server.url}/mcp`, { method: "POST", headers: session });
    assert.equal(none.status, 401);
    assert.equal(none.headers.get("www-authenticate"), "Bearer");
    const { key: other } = await server.key();
    assert.equal((await send(PING, session, other)).status, 403);
    const headers = { ...BOTH, ...session, authorization: `Bearer ${other}` };
    for (const method of ["GET", "DELETE"]) {
      assert.equal((await fetch(`${server.url}/mcp`, { method, headers })).status, 403);
    }
    assert.equal((await send(PING, session)).status, 200);
    assert.equal((await send(PING, { "mcp-session-id": "guessed" })).status, 404);
  });

  it("resumes a broken stream with the events that were missed", async () => {
    const session = { ...await open(), "mcp-protocol-version": "2025-11-25" };
    const broken = await send(message("tools/call", { name: "slow" }, 9), session);
    const reader = broken.body!.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    const last = /^id: (.+)$/m.exec(first)![1]!;
    const headers = {
      ...BOTH,
      ...session,
      authorization: `Bearer ${key}`,
      "last-event-id": last,
    };
    const resumed = await fetch(`${server.url}/mcp`, { headers });
    assert.equal(resumed.status, 200);
    const [event] = eventsOf(await resumed.text());
    assert.deepEqual([event.id > last, event.result.structuredContent], [true, { done: true }]);
  });

  it("ends when it is unused, and its streams when its key is revoked", async () => {
    const timing = { heartbeatMs: 50, sseIdleMs: 600_000, httpIdleMs: 600_000 };
    const impatient = await startToolServer({ timing, settings: { SEALOOP_LIMIT_TOOLS: "10000" } });
    try {
      const { key, id } = await impatient.key();
      const ask = (body: string, headers = {}) =>
        post(impatient.url, "/mcp", key, body, { ...BOTH, ...headers });
      const opened = await ask(INITIALIZE);
      await opened.text();
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
      const headers = { ...BOTH, ...session, authorization: `Bearer ${key}` };
      const stream = await fetch(`${impatient.url}/mcp`, { headers });
      assert.equal(stream.status, 200);
      timing.httpIdleMs = 200;
      await sleep(600);
      assert.equal((await ask(PING, session)).status, 200, "a session with a reader is in use");
      const read = stream.text().catch(() => "cut off");
      await takeKey(impatient.platform.store, id);
      assert.equal(await read, "cut off");
      while ((await getJson(`${impatient.url}/health`)).sessions !== 0) await sleep(20);
    } finally {
      await impatient.stop();
    }
  });

  it("takes the place of the key's least recently used one when it is the 101st", async () => {
    const { key } = await server.key();
    const opened: string[] = [];
    for (let i = 0; i <= 100; i++) {
      const response = await send(INITIALIZE, {}, key);
      await response.text();
      opened.push(response.headers.get("mcp-session-id")!);
    }
    assert.equal((await send(PING, { "mcp-session-id": opened[0]! }, key)).status, 404);
    assert.equal((await send(PING, { "mcp-session-id": opened[1]! }, key)).status, 200);
  });
});

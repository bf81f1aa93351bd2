import assert from "node:assert/strict";
import { request } from "node:http";
import {
  Client as CurrentClient,
  StreamableHTTPClientTransport as CurrentTransport,
} from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { runInOneMinute } from "../_time.ts";
import { counting, waiting } from "./_operations.ts";
import {
  connectHttp,
  getJson,
  type Json,
  jsonOf,
  post,
  startToolServer,
  type TestToolServer,
} from "./_tool_server.ts";

const BOTH = { accept: "application/json, text/event-stream" };
const message = (method: string, params?: unknown, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const PING = message("ping");

describe("Streamable HTTP at /mcp", () => {
  let server: TestToolServer;
  let key: string;
  const waits = waiting();
  const leaves = waiting("leave");
  before(async () => {
    server = await startToolServer({
      extra: [counting, waits.operation, leaves.operation],
      settings: { SEALOOP_LIMIT_TOOLS: "10000" },
    });
    ({ key } = await server.key());
  });
  after(() => server.stop());

  const send = (body: string, headers: Record<string, string> = {}, as: string | undefined = key) =>
    post(server.url, "/mcp", as, body, { ...BOTH, ...headers });
  const eventsOf = (text: string): Json[] =>
    text.split("\n\n").flatMap((block) => {
      const data = /^data: (.+)$/m.exec(block)?.[1];
      return data ? [{ id: /^id: (.+)$/m.exec(block)?.[1], ...JSON.parse(data) }] : [];
    });
  it("serves clients of revisions with a handshake in a session, which they end", async () => {
    const { sessions } = await getJson(`${server.url}/health`);
    const client = await connectHttp(server.url, key);
    const transport = client.transport as unknown as {
      sessionId: string;
      terminateSession(): Promise<void>;
    };
    assert.match(transport.sessionId, /^[0-9a-f-]{36}$/);
    assert.equal((await getJson(`${server.url}/health`)).sessions, sessions + 1);
    assert.ok((await client.listTools()).tools.some(({ name }) => name === "itsm_create_ticket"));
    const result = await client.callTool({ name: "ledger.search_receipts" }) as CallToolResult;
    assert.ok(!result.isError, JSON.stringify(result));
    assert.match(String(result._meta?.receipt_id), /^[0-9a-f]{16}$/);
    await transport.terminateSession();
    await client.close();
    assert.equal((await getJson(`${server.url}/health`)).sessions, sessions);
  });

  it("serves clients of stateless revisions without a session", async () => {
    const { sessions } = await getJson(`${server.url}/health`);
    const client = new CurrentClient({ name: "test", version: "1" }, {
      versionNegotiation: { mode: "auto" },
    });
    const headers = { authorization: `Bearer ${key}` };
    const address = new URL(`${server.url}/mcp`);
    const transport = new CurrentTransport(address, { requestInit: { headers } });
    await client.connect(transport);
    assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
    assert.equal(transport.sessionId, undefined);
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "itsm_create_ticket"));
    const progressed: unknown[] = [];
    const result = await client.callTool({ name: "count", arguments: {} }, {
      onprogress: ({ progress, total, message }) => progressed.push([progress, total, message]),
    });
    assert.deepEqual(result.structuredContent, { result: [1, 2, 3] });
    assert.deepEqual(progressed, [1, 2, 3].map((n) => [n, 3, `at ${n}`]));
    assert.match(String(result._meta?.receipt_id), /^[0-9a-f]{16}$/);
    const cancel = new AbortController();
    const call = client.callTool({ name: "wait", arguments: {} }, { signal: cancel.signal });
    await Promise.all([waits.begun.then(() => cancel.abort()), assert.rejects(call), waits.ended]);
    await client.close();
    assert.equal((await getJson(`${server.url}/health`)).sessions, sessions);
  });

  it("answers a request without a session", async () => {
    const response = await send(message("tools/call", { name: "count" }, 7));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("mcp-session-id"), null);
    const { id, result } = await jsonOf(response);
    assert.deepEqual([id, result.structuredContent], [7, { result: [1, 2, 3] }]);
    const params = { name: "count", _meta: { progressToken: "p" } };
    const stream = await send(message("tools/call", params));
    assert.match(stream.headers.get("content-type")!, /^text\/event-stream/);
    const events = eventsOf(await stream.text());
    assert.deepEqual(events.map(({ params }) => params?.progress), [1, 2, 3, undefined]);
  });

  it("cancels a request without a session when its client leaves", async () => {
    const leave = new AbortController();
    const { operation, begun, ended } = leaves;
    const asked = fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: { ...BOTH, "content-type": "application/json", authorization: `Bearer ${key}` },
      body: message("tools/call", { name: Object.keys(operation.tool!)[0] }),
      signal: leave.signal,
    });
    await begun;
    leave.abort();
    await Promise.all([assert.rejects(asked), ended]);
  });

  describe("answers with an error of JSON-RPC to", () => {
    const cases: readonly [string, string, number, number?, Record<string, string>?][] = [
      ["malformed JSON", "{", 400, -32700],
      ["the same name twice", '{"jsonrpc":"2.0","jsonrpc":"2.0"}', 400, -32700],
      ["nothing", "", 400, -32600],
      ["an empty batch", "[]", 400, -32600],
      ["a batch in a revision without batches", `[${PING}]`, 400, -32600, {
        "mcp-protocol-version": "2025-06-18",
      }],
      ["a value", "7", 400, -32600],
      ["an object without jsonrpc", '{"id":1,"method":"ping"}', 400, -32600],
      ["an unknown revision", PING, 400, -32000, { "mcp-protocol-version": "1999-01-01" }],
      ["a client that accepts no stream", PING, 406, -32000, { accept: "application/json" }],
      ["a notification", '{"jsonrpc":"2.0","method":"notifications/other"}', 202],
    ];
    for (const [what, body, status, code, headers] of cases) {
      it(what, async () => {
        const response = await send(body, headers);
        assert.equal(response.status, status);
        if (code === undefined) return;
        const { jsonrpc, error } = await jsonOf(response);
        assert.deepEqual([jsonrpc, error.code], ["2.0", code]);
        assert.ok(error.message.length > 10);
      });
    }
  });

  it("answers a batch in revisions that have them", async () => {
    const response = await send(`[${message("ping", {}, 1)},${message("ping", {}, 2)}]`);
    assert.deepEqual((await jsonOf(response)).map(({ id }: Json) => id), [1, 2]);
  });

  it("refuses bodies above 1 MiB, other content types and other methods", async () => {
    const large = message("ping", { x: "x".repeat(1 << 20) });
    assert.equal((await send(large)).status, 413);
    assert.equal((await send(PING, { "content-type": "text/plain" })).status, 415);
    const put = await fetch(`${server.url}/mcp`, { method: "PUT" });
    assert.equal(put.status, 405);
    assert.match(put.headers.get("allow")!, /POST/);
    const get = await fetch(`${server.url}/mcp?api_key=${key}`, { headers: BOTH });
    assert.equal(get.status, 405);
  });

  it("is refused to pages of other origins", async () => {
    const statusOf = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        request(`${server.url}/mcp`, { method: "POST", headers }, (res) => {
          resolve(res.statusCode!);
          res.resume();
        }).once("error", reject).end();
      });
    assert.equal(await statusOf({ host: "rebound.example" }), 403);
    assert.equal(await statusOf({ origin: "https://rebound.example" }), 403);
    assert.equal(await statusOf({ origin: "http://localhost:6274" }), 401);
  });

  it("counts every request of the key, and answers 429 where no tool result can", async () => {
    const limited = await startToolServer({ settings: { SEALOOP_LIMIT_TOOLS: "3" } });
    try {
      const call = message("tools/call", { name: "ledger.search_receipts" });
      const [ping, batch, refused, called] = await runInOneMinute(10, async () => {
        const { key } = await limited.key();
        const answers: Response[] = [];
        for (const body of [PING, `[${PING},${PING}]`, PING, call]) {
          answers.push(await post(limited.url, "/mcp", key, body, BOTH));
        }
        return answers as [Response, Response, Response, Response];
      });
      assert.deepEqual([ping.status, batch.status, refused.status], [200, 200, 429]);
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
      const { result } = await jsonOf(called);
      assert.match(result.content[0].text, /Rate limit exceeded \(3\/minute\); wait \d+ seconds/);
    } finally {
      await limited.stop();
    }
  });
});

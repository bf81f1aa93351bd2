import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { runInOneMinute } from "../_time.ts";
import { slow } from "./_operations.ts";
import { jsonOf, openStream, post, startToolServer, type TestToolServer } from "./_tool_server.ts";

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

describe("an SSE session", () => {
  let server: TestToolServer;
  let key: string;
  before(async () => {
    const settings = { SEALOOP_LIMIT_TOOLS: "1000" };
    server = await startToolServer({ extra: [slow], settings });
    ({ key } = await server.key());
  });
  after(() => server.stop());

  it("starts with the event `endpoint`, the path for messages", async () => {
    const stream = await openStream(server.url, key);
    assert.match(stream.endpoint, /^\/messages\?sessionId=[0-9a-f-]{36}$/);
    assert.match(stream.response.headers.get("content-type")!, /^text\/event-stream/);
    stream.close();
  });

  it("can be opened with the key in the query", async () => {
    const response = await fetch(`${server.url}/sse?api_key=${key}`);
    assert.equal(response.status, 200);
    await response.body!.cancel();
  });

  for (
    const [what, headers] of [
      ["no key", {}],
      ["an unknown key", { authorization: `Bearer slp_partner_${"A".repeat(43)}` }],
      ["a malformed key", { authorization: "Bearer hello" }],
      ["another scheme", { authorization: "Basic aGVsbG86eW91" }],
    ] as const
  ) {
    it(`is refused to ${what} before the stream begins`, async () => {
      const response = await fetch(`${server.url}/sse`, { headers });
      assert.equal(response.status, 401);
      assert.equal(response.headers.get("www-authenticate"), "Bearer");
      assert.equal(typeof (await jsonOf(response)).detail, "string");
    });
  }

  it("is refused to an expired key", async () => {
    const expired = await server.key({ expiresAt: new Date(Date.now() - 1000) });
    const headers = { authorization: `Bearer ${expired.key}` };
    assert.equal((await fetch(`${server.url}/sse`, { headers })).status, 401);
  });

  it("is refused to a key that may approve, as agents may not", async () => {
    const approver = await server.key({ mayApprove: true });
    const response = await fetch(`${server.url}/sse?api_key=${approver.key}`);
    assert.equal(response.status, 403);
    assert.match((await jsonOf(response)).detail, /may approve/);
  });

  it("accepts messages of its own key alone", async () => {
    const stream = await openStream(server.url, key);
    const other = await server.key();
    assert.equal((await post(server.url, stream.endpoint, other.key, PING)).status, 403);
    assert.equal((await post(server.url, stream.endpoint, undefined, PING)).status, 401);
    assert.equal((await post(server.url, stream.endpoint, key, PING)).status, 202);
    assert.deepEqual(await stream.message(), {
      jsonrpc: "2.0",
      id: 1,
      result: {},
    });
    stream.close();
  });

  it("is 404 for an unknown id", async () => {
    for (const path of ["/messages", "/messages?sessionId=", "/messages?sessionId=a&sessionId=b"]) {
      const response = await post(server.url, path, key, PING);
      assert.equal(response.status, 404, path);
      assert.equal(typeof (await jsonOf(response)).detail, "string");
    }
  });

  describe("answers with an error of JSON-RPC to", () => {
    const cases: readonly [string, string, number, number?][] = [
      ["malformed JSON", "{", 400, -32700],
      ["the same name twice", '{"jsonrpc":"2.0","jsonrpc":"2.0"}', 400, -32700],
      ["nothing", "", 400, -32600],
      ["a batch", `[${PING}]`, 400, -32600],
      ["a value", "7", 400, -32600],
      ["an object without jsonrpc", '{"id":1,"method":"ping"}', 400, -32600],
      ["a wrong version", '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
      ["a method that is no text", '{"jsonrpc":"2.0","id":1,"method":7}', 400, -32600],
      ["a notification", '{"jsonrpc":"2.0","method":"notifications/other"}', 202],
    ];
    for (const [what, body, status, code] of cases) {
      it(what, async () => {
        const stream = await openStream(server.url, key);
        const response = await post(server.url, stream.endpoint, key, body);
        assert.equal(response.status, status);
        if (code !== undefined) {
          const { jsonrpc, id, error } = await jsonOf(response);
          assert.deepEqual([jsonrpc, id, error.code], ["2.0", null, code]);
          assert.ok(error.message.length > 10);
        }
        stream.close();
      });
    }
  });

  it("answers invalid requests with the codes of JSON-RPC", async () => {
    const stream = await openStream(server.url, key);
    const ask = async (method: string, params?: unknown) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 9, method, params });
      assert.equal((await post(server.url, stream.endpoint, key, body)).status, 202);
      return (await stream.message()).error.code;
    };
    assert.equal(await ask("no/such"), -32601);
    assert.equal(await ask("tools/call", {}), -32602);
    assert.equal(await ask("tools/call"), -32602);
    assert.equal(await ask("tools/call", { name: "no_such_tool" }), -32602);
    assert.equal(await ask("tools/call", { name: "slow", arguments: [1] }), -32602);
    stream.close();
  });

  it("refuses a message above 1 MiB, with or without a declared length, and other content types", async () => {
    const stream = await openStream(server.url, key);
    const large = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", x: "x".repeat(1 << 20) });
    assert.equal((await post(server.url, stream.endpoint, key, large)).status, 413);
    const chunked = request(`${server.url}${stream.endpoint}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    });
    chunked.write(large);
    chunked.end();
    const [answer] = await once(chunked, "response");
    assert.equal(answer.statusCode, 413);
    answer.resume();
    const text = { "content-type": "text/plain" };
    assert.equal((await post(server.url, stream.endpoint, key, PING, text)).status, 415);
    stream.close();
  });

  it("is refused to pages of other origins, and open to programs and local pages", async () => {
    const statusOf = (headers: Record<string, string>, path = "/sse") =>
      new Promise<number>((resolve, reject) => {
        const all = { authorization: `Bearer ${key}`, ...headers };
        request(`${server.url}${path}`, { headers: all }, (res) => {
          resolve(res.statusCode!);
          res.destroy();
        }).once("error", reject).end();
      });
    assert.equal(await statusOf({ host: "rebound.example" }), 403);
    assert.equal(await statusOf({ host: "rebound.example" }, "/mcp/tools"), 403);
    assert.equal(await statusOf({ host: "127.0.0.1.rebound.example" }), 403);
    assert.equal(await statusOf({ origin: "https://rebound.example" }), 403);
    assert.equal(await statusOf({ origin: "null" }), 403);
    assert.equal(await statusOf({ origin: "http://localhost:6274" }), 200);
    assert.equal(await statusOf({ host: "localhost:8081" }), 200);
  });

  it("answers other methods with 405 and `Allow`", async () => {
    const response = await fetch(`${server.url}/sse`, { method: "POST" });
    assert.equal(response.status, 405);
    assert.match(response.headers.get("allow")!, /GET/);
    assert.equal((await fetch(`${server.url}/messages`)).status, 405);
    const head = await fetch(`${server.url}/sse?api_key=${key}`, { method: "HEAD" });
    assert.equal(head.status, 405);
    assert.equal((await fetch(`${server.url}/nothing`)).status, 404);
  });

  it("counts every request of the key, and answers 429 where no tool result can", async () => {
    const limited = await startToolServer({ settings: { SEALOOP_LIMIT_TOOLS: "3" } });
    try {
      const { statuses, refused } = await runInOneMinute(10, async () => {
        const { key } = await limited.key();
        const stream = await openStream(limited.url, key);
        const statuses = [];
        for (let i = 0; i < 3; i++) {
          statuses.push((await post(limited.url, stream.endpoint, key, PING)).status);
        }
        const refused = await fetch(`${limited.url}/sse?api_key=${key}`);
        stream.close();
        return { statuses, refused };
      });
      assert.deepEqual(statuses, [202, 202, 429]);
      assert.equal(refused.status, 429);
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
      assert.match((await jsonOf(refused)).detail, /^Rate limit exceeded \(3\/minute\)/);
    } finally {
      await limited.stop();
    }
  });
});

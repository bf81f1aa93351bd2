import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { revokeKey } from "../../store/mod.ts";
import { inOneMinute } from "../_time.ts";
import {
  connect,
  getJson,
  jsonOf,
  openStream,
  post,
  startToolServer,
  type TestToolServer,
} from "./_tool_server.ts";
import { slow, waiting } from "./_operations.ts";

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

describe("a session of the tool server", () => {
  let server: TestToolServer;
  let key: string;
  const waits = waiting();
  before(async () => {
    const settings = { SEALOOP_LIMIT_TOOLS: "1000" };
    server = await startToolServer({ extra: [slow, waits.operation], settings });
    ({ key } = await server.key());
  });
  after(() => server.stop());

  const sessions = async () => (await getJson(`${server.url}/health`)).sessions;
  const sessionsBecome = async (wanted: number) => {
    while (await sessions() !== wanted) await sleep(20);
  };

  it("starts with the event `endpoint`, which is the path of its messages", async () => {
    const stream = await openStream(server.url, key);
    assert.match(stream.endpoint, /^\/messages\?sessionId=[0-9a-f-]{36}$/);
    assert.match(stream.response.headers.get("content-type")!, /^text\/event-stream/);
    stream.close();
  });

  it("is opened with the key in the query too", async () => {
    const response = await fetch(`${server.url}/sse?api_key=${key}`);
    assert.equal(response.status, 200);
    await response.body!.cancel();
  });

  for (
    const [what, headers] of [
      ["no key", {}],
      ["an unknown key", { authorization: `Bearer slp_partner_${"A".repeat(43)}` }],
      ["what is no key at all", { authorization: "Bearer hello" }],
      ["another scheme", { authorization: "Basic aGVsbG86eW91" }],
    ] as const
  ) {
    it(`is refused to ${what}, before anything of a stream is sent`, async () => {
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

  it("is refused to a key that may approve: no agent may hold one", async () => {
    const approver = await server.key({ mayApprove: true });
    const response = await fetch(`${server.url}/sse?api_key=${approver.key}`);
    assert.equal(response.status, 403);
    assert.match((await jsonOf(response)).detail, /may approve/);
  });

  it("takes messages of its own key alone", async () => {
    const stream = await openStream(server.url, key);
    const other = await server.key();
    assert.equal((await post(server.url, stream.endpoint, other.key, PING)).status, 403);
    assert.equal((await post(server.url, stream.endpoint, undefined, PING)).status, 401);
    assert.equal((await post(server.url, stream.endpoint, key, PING)).status, 202);
    assert.deepEqual(JSON.parse((await stream.next())!.split("data: ")[1]!), {
      jsonrpc: "2.0",
      id: 1,
      result: {},
    });
    stream.close();
  });

  it("is unknown where there is none of that id", async () => {
    for (const path of ["/messages", "/messages?sessionId=", "/messages?sessionId=a&sessionId=b"]) {
      const response = await post(server.url, path, key, PING);
      assert.equal(response.status, 404, path);
      assert.equal(typeof (await jsonOf(response)).detail, "string");
    }
  });

  it("is given up when its client leaves, and what ran in it is cancelled", async () => {
    await sessionsBecome(0);
    const client = await connect(server.url, key);
    assert.equal(await sessions(), 1);
    const call = client.callTool({ name: "wait", arguments: {} }).catch((error) => error);
    await waits.begun;
    await client.close();
    await waits.ended;
    assert.ok(await call instanceof Error);
    await sessionsBecome(0);
  });

  it("ends at the next message when its key is revoked", async () => {
    const revoked = await server.key();
    const stream = await openStream(server.url, revoked.key);
    await revokeKey(server.platform.store.asPlatform(), revoked.id);
    let status = 202;
    for (; status !== 401; await sleep(10)) {
      ({ status } = await post(server.url, stream.endpoint, revoked.key, PING));
    }
    stream.close();
  });

  describe("answers what is no message as JSON-RPC has it:", () => {
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

  it("answers requests that it can't do with the codes of JSON-RPC", async () => {
    const stream = await openStream(server.url, key);
    const ask = async (method: string, params?: unknown) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 9, method, params });
      assert.equal((await post(server.url, stream.endpoint, key, body)).status, 202);
      return JSON.parse((await stream.next())!.split("data: ")[1]!).error.code;
    };
    assert.equal(await ask("no/such"), -32601);
    assert.equal(await ask("tools/call", {}), -32602);
    assert.equal(await ask("tools/call"), -32602);
    assert.equal(await ask("tools/call", { name: "no_such_tool" }), -32602);
    assert.equal(await ask("tools/call", { name: "slow", arguments: [1] }), -32602);
    stream.close();
  });

  it("refuses a message above 1 MiB, declared or not, and other content types", async () => {
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

  it("is kept from pages of elsewhere, and open to programs and local pages", async () => {
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

  it("answers other methods with those there are", async () => {
    const response = await fetch(`${server.url}/sse`, { method: "POST" });
    assert.equal(response.status, 405);
    assert.match(response.headers.get("allow")!, /GET/);
    assert.equal((await fetch(`${server.url}/messages`)).status, 405);
    const head = await fetch(`${server.url}/sse?api_key=${key}`, { method: "HEAD" });
    assert.equal(head.status, 405);
    assert.equal((await fetch(`${server.url}/nothing`)).status, 404);
  });

  it("counts every request of the key, and says 429 where no tool can", async () => {
    const limited = await startToolServer({ settings: { SEALOOP_LIMIT_TOOLS: "3" } });
    try {
      const { statuses, refused } = await inOneMinute(10, async () => {
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

  it("shows signs of life, and is given up when it is idle or its key is revoked", async () => {
    const timing = { heartbeatMs: 50, httpIdleMs: 400 };
    const brisk = await startToolServer({ timing: { ...timing, sseIdleMs: 3_000 } });
    const patient = await startToolServer({ timing: { ...timing, sseIdleMs: 600_000 } });
    try {
      const { key } = await brisk.key();
      const stream = await openStream(brisk.url, key);
      assert.match((await stream.next())!, /^: /);
      let comments = 1;
      while (await stream.next().catch(() => undefined) !== undefined) comments++;
      assert.ok(comments >= 3, `${comments} comments before the end`);

      const revoked = await patient.key();
      const second = await openStream(patient.url, revoked.key);
      await revokeKey(patient.platform.store.asPlatform(), revoked.id);
      while (await second.next().catch(() => undefined) !== undefined);
    } finally {
      await Promise.all([brisk.stop(), patient.stop()]);
    }
  });

  it("is given up when its client asks and asks, and reads nothing of the answers", async () => {
    const timing = { heartbeatMs: 50, sseIdleMs: 600_000, httpIdleMs: 600_000 };
    const settings = { SEALOOP_LIMIT_TOOLS: "10000" };
    const brisk = await startToolServer({ timing, settings });
    const asking = new AbortController();
    try {
      const { key } = await brisk.key();
      const path = await new Promise<string>((resolve, reject) => {
        const { signal } = asking;
        request(`${brisk.url}/sse?api_key=${key}`, { signal }, (response) => {
          response.on("error", () => {}).once("data", (first) => {
            response.pause();
            resolve(/^data: (.+)$/m.exec(String(first))![1]!);
          });
        }).on("error", reject).end();
      });
      const ask = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      let asked = 0;
      while (asked < 5_000 && (await post(brisk.url, path, key, ask)).status === 202) asked++;
      assert.ok(asked > 100 && asked < 5_000, `${asked} answers that nobody read`);
      assert.equal((await getJson(`${brisk.url}/health`)).sessions, 0);
    } finally {
      asking.abort();
      await brisk.stop();
    }
  });

  it("is drained: what runs is answered, nothing new is begun, and then the stream ends", async () => {
    const stopping = await startToolServer({ extra: [slow] });
    try {
      const { key } = await stopping.key();
      const stream = await openStream(stopping.url, key);
      const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "slow" } };
      await post(stopping.url, stream.endpoint, key, JSON.stringify(call));
      const drained = stopping.drain();
      assert.equal((await post(stopping.url, stream.endpoint, key, PING)).status, 503);
      assert.equal((await fetch(`${stopping.url}/sse?api_key=${key}`)).status, 503);
      const { id, result } = JSON.parse((await stream.next())!.split("data: ")[1]!);
      assert.deepEqual([id, result.structuredContent], [5, { done: true }]);
      assert.equal(await stream.next(), undefined);
      await drained;
    } finally {
      await stopping.stop();
    }
  });
});

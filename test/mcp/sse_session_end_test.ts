import assert from "node:assert/strict";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { slow, waiting } from "./_operations.ts";
import {
  connect,
  getJson,
  openStream,
  post,
  startToolServer,
  type TestToolServer,
} from "./_tool_server.ts";
import { takeKey } from "../_superuser.ts";

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

describe("the end of an SSE session", () => {
  let server: TestToolServer;
  let key: string;
  const waits = waiting();
  before(async () => {
    const settings = { SEALOOP_LIMIT_TOOLS: "1000" };
    server = await startToolServer({ extra: [waits.operation], settings });
    ({ key } = await server.key());
  });
  after(() => server.stop());

  const sessions = async () => (await getJson(`${server.url}/health`)).sessions;
  const untilSessions = async (wanted: number) => {
    while (await sessions() !== wanted) await sleep(20);
  };

  it("comes when its client leaves, and aborts its calls", async () => {
    await untilSessions(0);
    const client = await connect(server.url, key);
    assert.equal(await sessions(), 1);
    const call = client.callTool({ name: "wait", arguments: {} }).catch((error) => error);
    await waits.begun;
    await client.close();
    await waits.ended;
    assert.ok(await call instanceof Error);
    await untilSessions(0);
  });

  it("comes at the next message after its key is revoked", async () => {
    const revoked = await server.key();
    const stream = await openStream(server.url, revoked.key);
    await takeKey(server.platform.store, revoked.id);
    let status = 202;
    for (; status !== 401; await sleep(10)) {
      ({ status } = await post(server.url, stream.endpoint, revoked.key, PING));
    }
    stream.close();
  });

  it("comes when it is idle or its key is revoked, after heartbeats", async () => {
    const timing = { heartbeatMs: 50, httpIdleMs: 600_000, sseIdleMs: 600_000 };
    const impatient = await startToolServer({ timing });
    try {
      const revoked = await impatient.key();
      const stream = await openStream(impatient.url, revoked.key);
      for (let n = 0; n < 3; n++) assert.match((await stream.next())!, /^: /);
      await takeKey(impatient.platform.store, revoked.id);
      while (await stream.next().catch(() => undefined) !== undefined);

      const { key } = await impatient.key();
      const idle = await openStream(impatient.url, key);
      for (let n = 0; n < 3; n++) assert.match((await idle.next())!, /^: /);
      timing.sseIdleMs = 100;
      while (await idle.next().catch(() => undefined) !== undefined);
    } finally {
      await impatient.stop();
    }
  });

  it("comes when its client sends requests and reads no responses", async () => {
    const timing = { heartbeatMs: 50, sseIdleMs: 600_000, httpIdleMs: 600_000 };
    const settings = { SEALOOP_LIMIT_TOOLS: "10000" };
    const impatient = await startToolServer({ timing, settings });
    const asking = new AbortController();
    try {
      const { key } = await impatient.key();
      const path = await new Promise<string>((resolve, reject) => {
        const { signal } = asking;
        request(`${impatient.url}/sse?api_key=${key}`, { signal }, (response) => {
          response.on("error", () => {}).once("data", (first) => {
            response.pause();
            resolve(/^data: (.+)$/m.exec(String(first))![1]!);
          });
        }).on("error", reject).end();
      });
      const ask = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      let asked = 0;
      while (asked < 5_000 && (await post(impatient.url, path, key, ask)).status === 202) asked++;
      assert.ok(asked > 20 && asked < 5_000, `${asked} answers that nobody read`);
      assert.equal((await getJson(`${impatient.url}/health`)).sessions, 0);
    } finally {
      asking.abort();
      await impatient.stop();
    }
  });

  it("comes after its calls when the server stops, which starts no new ones", async () => {
    const stopping = await startToolServer({ extra: [slow] });
    try {
      const { key } = await stopping.key();
      const stream = await openStream(stopping.url, key);
      const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "slow" } };
      await post(stopping.url, stream.endpoint, key, JSON.stringify(call));
      const drained = stopping.drain();
      assert.equal((await post(stopping.url, stream.endpoint, key, PING)).status, 503);
      assert.equal((await fetch(`${stopping.url}/sse?api_key=${key}`)).status, 503);
      const { id, result } = await stream.message();
      assert.deepEqual([id, result.structuredContent], [5, { done: true }]);
      assert.equal(await stream.message(), undefined);
      await drained;
    } finally {
      await stopping.stop();
    }
  });
});

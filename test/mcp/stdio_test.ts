import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { createInvoke, createToolServerAuth } from "../../calls/mod.ts";
import { safeMakerOf } from "../../processes/mod.ts";
import { serveStdio } from "../../mcp/mod.ts";
import { runInOneMinute } from "../_time.ts";
import { counting } from "./_operations.ts";
import { type Json, startToolServer, type TestToolServer } from "./_tool_server.ts";
import { takeKey } from "../_superuser.ts";

/** Metadata of every request in stateless revisions. */
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("a client over standard input and output", () => {
  let server: TestToolServer;
  before(async () => {
    server = await startToolServer({ settings: { SEALOOP_LIMIT_TOOLS: "5" } });
  });
  after(() => server.stop());

  async function open(of: { key?: string; id: string } | undefined = undefined) {
    const { key, id } = of ?? await server.key();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const lines = createInterface(output)[Symbol.asyncIterator]();
    let disconnect = () => {};
    const left = new Promise<void>((resolve) => disconnect = resolve);
    const served = await serveStdio({
      operations: [counting],
      makeSafe: safeMakerOf(server.platform),
      invoke: createInvoke(server.platform),
      auth: createToolServerAuth(server.platform),
      log: server.platform.log,
      key,
      input,
      output,
      onDisconnect: () => disconnect(),
    });
    const next = async (): Promise<Json> => JSON.parse((await lines.next()).value);
    const ask = (line: string) => {
      input.write(`${line}\n`);
      return next();
    };
    return { id, input, ask, next, left, close: () => served.close() };
  }
  const request = (method: string, params: object = {}, id: number = 1) =>
    JSON.stringify({ jsonrpc: "2.0", id, method, params });

  it("is served in its own revision", async () => {
    const old = await open();
    const { result } = await old.ask(request("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    }));
    assert.equal(result.protocolVersion, "2025-06-18");
    const { result: listed } = await old.ask(request("tools/list"));
    assert.deepEqual(listed.tools.map(({ name }: Json) => name), ["count"]);
    const current = await open();
    const { result: called } = await current.ask(
      request("tools/call", { name: "count", _meta: ENVELOPE }),
    );
    assert.deepEqual(called.structuredContent, { result: [1, 2, 3] });
    assert.match(called._meta.receipt_id, /^[0-9a-f]{16}$/);
    for (const client of [old, current]) {
      client.input.end();
      await client.left;
      await client.close();
    }
  });

  it("gets an error of JSON-RPC for an invalid message", async () => {
    const { ask, input, next, close } = await open();
    const cases = [
      ["{", -32700],
      ['{"id":1,"id":2}', -32700],
      ["7", -32600],
      [`[${request("ping")}]`, -32600],
      ['{"id":1,"method":"ping"}', -32600],
      [`"${"x".repeat(1 << 20)}"`, -32600],
    ] as const;
    for (const [line, code] of cases) {
      const { id, error } = await ask(line);
      assert.deepEqual([id, error.code], [null, code], line.slice(0, 50));
    }
    input.write("\n");
    input.write(
      request("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      }).slice(0, 20),
    );
    input.write(
      `${
        request("initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "test", version: "1" },
        }).slice(20)
      }\n`,
    );
    assert.equal((await next()).result.protocolVersion, "2025-11-25");
    await close();
  });

  it("is not served without a key for agents", async () => {
    await assert.rejects(open({ id: "" }), /Set SEALOOP_MCP_KEY/);
    await assert.rejects(open(await server.key({ mayApprove: true })), /may approve/);
  });

  it("is counted, and refused once its key is revoked", async () => {
    const ping = request("ping");
    const { id, ask, close, answers } = await runInOneMinute(10, async () => {
      const client = await open();
      const answers: Json[] = [];
      for (let i = 0; i < 6; i++) answers.push(await client.ask(ping));
      return { ...client, answers };
    });
    const refused = answers.pop();
    for (const { result } of answers) assert.deepEqual(result, {});
    assert.match(refused.error.message, /^Rate limit exceeded \(5\/minute\)/);
    await takeKey(server.platform.store, id);
    let said = "";
    while (!/Invalid API key/.test(said)) {
      said = (await ask(ping)).error?.message; // none in the next minute
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await close();
  });
});

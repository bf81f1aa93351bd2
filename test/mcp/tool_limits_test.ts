import assert from "node:assert/strict";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { runInOneMinute } from "../_time.ts";
import {
  connect,
  type Json,
  jsonOf,
  post,
  startToolServer,
  type TestToolServer,
} from "./_tool_server.ts";

const headers = { accept: "application/json, text/event-stream" };

describe("limits of tools", () => {
  let limited: TestToolServer;
  afterEach(() => limited.stop());
  const start = async (limit: number) => {
    limited = await startToolServer({ settings: { SEALOOP_LIMIT_TOOLS: String(limit) } });
  };
  /** Sends requests one after the other, within one minute. */
  const send = (method: string, all: readonly object[], scope: "full" | "audit" = "full") =>
    runInOneMinute(10, async () => {
      const { key } = await limited.key({ scope });
      const answers: Json[] = [];
      for (const params of all) {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
        answers.push(await jsonOf(await post(limited.url, "/mcp", key, body, headers)));
      }
      return answers;
    });

  it("count calls that are refused, unknown or malformed", async () => {
    await start(3);
    const [refused, unknown, malformed, ...over] = await send("tools/call", [
      { name: "itsm_create_ticket", arguments: { title: "x" } },
      { name: "no_such_tool" },
      { name: 7 },
      { name: "no_such_tool" },
      { name: "itsm_create_ticket" },
      { name: "ledger.search_receipts" },
      { name: 7 },
    ], "audit");
    assert.equal(refused.result._meta["sealoop/error"], "Forbidden");
    assert.deepEqual([unknown.error.code, malformed.error.code], [-32602, -32602]);
    assert.match(over.pop().detail, /^Rate limit exceeded/);
    const errors = over.map(({ result }) => result._meta["sealoop/error"]);
    assert.deepEqual(errors, ["RateLimited", "RateLimited", "RateLimited"]);
  });

  it("count a completion once, whether its argument is known or not", async () => {
    await start(4);
    const ref = { type: "ref/resource", uri: "sealoop://receipts/{receipt_id}" };
    const argument = { name: "receipt_id", value: "" };
    const [one, other, unknown, malformed, over, none] = await send("completion/complete", [
      { ref, argument },
      { ref, argument, context: { arguments: { status: "open" } } },
      { ref, argument: { name: "constructor", value: "" } },
      { ref, argument: { name: "receipt_id", value: 7 } },
      { ref, argument },
      { ref, argument: { name: "other", value: "" } },
    ]);
    assert.ok(one.result.completion && other.result.completion);
    assert.deepEqual(unknown.result.completion.values, []);
    assert.ok(malformed.error);
    assert.equal(over.error.data.error, "RateLimited");
    assert.match(none.detail, /^Rate limit exceeded/);
  });

  it("say how many seconds to wait, and seal nothing", async () => {
    await start(4);
    const results = await runInOneMinute(10, async () => {
      const client = await connect(limited.url, (await limited.key()).key); // uses two: stream and handshake
      const results = await Promise.all(
        Array.from(
          { length: 5 },
          async () => await client.callTool({ name: "ledger.search_receipts" }) as CallToolResult,
        ),
      );
      await client.close();
      return results;
    });
    const refused = results.filter((result) => result.isError);
    assert.equal(refused.length, 3);
    for (const { content, _meta } of refused) {
      assert.match(JSON.stringify(content), /Rate limit exceeded \(4\/minute\); wait \d+ seconds/);
      assert.ok(Number(_meta?.["sealoop/retry_after_seconds"]) > 0);
      assert.equal(_meta?.receipt_id, undefined);
    }
  });
});

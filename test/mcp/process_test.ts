import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ROOT } from "../../config.ts";
import { program } from "../_programs.ts";
import { freePort, testFolder } from "../_run.ts";
import { emptyDatabase, type TestDatabase, testDatabase } from "../_servers.ts";
import { runInOneMinute } from "../_time.ts";
import { keyIn, startToolProcess } from "./_process.ts";
import {
  connect,
  connectHttp,
  getJson,
  type Json,
  jsonOf,
  openStream,
  post,
} from "./_tool_server.ts";

describe("the tool server's processes", () => {
  let database: TestDatabase;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.drop());

  it("serve the operations' tools, log no key, and stop with a stream open", async () => {
    const { child, url, lines, exited } = await startToolProcess(database);
    try {
      assert.ok((await getJson(`${url}/health`)).tools > 10);
      const { key } = await keyIn(database);
      const client = await connect(url, key);
      const { isError, _meta } = await client.callTool({ name: "ledger.search_receipts" });
      assert.ok(!isError);
      assert.match(String(_meta?.receipt_id), /^[0-9a-f]{16}$/);
      await client.close();
      assert.equal((await fetch(`${url}/sse?api_key=${key}`, { method: "HEAD" })).status, 405);

      const stream = await openStream(url, key);
      child.kill("SIGTERM");
      assert.equal(await stream.next(), undefined);
      assert.deepEqual(await exited, [0, null]);
      assert.ok(!lines.join("\n").includes(key), "a key is in the log");
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("serve the client that starts one, with the key of its environment", async () => {
    const client = new Client({ name: "test", version: "1" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [await program("processes/mcp_stdio.ts")],
      cwd: ROOT,
      env: {
        PATH: process.env.PATH!,
        DATABASE_URL: database.urls.owner,
        SEALOOP_DATABASE_TOOLS_URL: database.urls.tools,
        SEALOOP_MCP_KEY: (await keyIn(database)).key,
      },
      stderr: "ignore",
    });
    await client.connect(transport);
    const { isError, _meta } = await client.callTool({ name: "ledger.search_receipts" });
    assert.ok(!isError);
    assert.match(String(_meta?.receipt_id), /^[0-9a-f]{16}$/);
    await client.close();
  });

  it("print one sentence to correct a wrong setup", async () => {
    const { key } = await keyIn(database);
    const [folder, nobody] = [await testFolder(), await freePort()];
    const [empty, revoked] = await Promise.all([emptyDatabase(), testDatabase()]);
    await revoked.executeAsSuperuser("REVOKE SELECT ON migrations FROM sealoop_tools");
    const at = (url: string) => ({ SEALOOP_DATABASE_TOOLS_URL: url });
    const here = at(database.urls.tools);
    const away = at(`postgres://a:b@127.0.0.1:${nobody}/c`);
    const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ ...away, SEALOOP_MCP_KEY: key }, /^Cannot reach the database: start the platform/],
      [
        { ...at(empty.urls.tools), SEALOOP_MCP_KEY: key },
        /has no tables yet; npm start or npm run setup makes them/,
      ],
      [
        { ...at(revoked.urls.tools), SEALOOP_MCP_KEY: key },
        /role lacks the rights of this version; npm start or npm run setup grants them/,
      ],
      [{ ...at(database.urls.gateway), SEALOOP_MCP_KEY: key }, /has to log in as sealoop_tools/],
      [
        { SEALOOP_DATA: folder, SEALOOP_MCP_KEY: key },
        /^There is no platform in \S+ yet: start it/,
      ],
      [here, /^Set SEALOOP_MCP_KEY/],
      [{ ...here, SEALOOP_MCP_KEY: `${key}x` }, /^Invalid API key/i],
    ];
    const file = await program("processes/mcp_stdio.ts");
    for (const [env, sentence] of cases) {
      const options = { cwd: ROOT, env: { PATH: process.env.PATH, ...env } };
      const { status, stdout, stderr } = await new Promise<Record<string, unknown>>((resolve) => {
        execFile(process.execPath, [file], options, (error, stdout, stderr) => {
          resolve({ status: error?.code, stdout, stderr });
        });
      });
      assert.deepEqual({ status, stdout }, { status: 1, stdout: "" });
      assert.match(String(stderr), sentence);
      assert.equal(String(stderr).trimEnd().split("\n").length, 1, String(stderr));
    }
    await Promise.all([empty.drop(), revoked.drop()]);
  });

  it("enforce the limit exactly over 1,000 concurrent calls of two processes and both protocols", async () => {
    const [LIMIT, AT_ONCE] = [37, 333];
    const env = { SEALOOP_LIMIT_TOOLS: String(LIMIT) };
    const two = await Promise.all([1, 2].map(() => startToolProcess(database, env)));
    try {
      const accept = { accept: "application/json, text/event-stream" };
      const name = "ledger.search_receipts";
      const overMcp = async (url: string, key: string): Promise<boolean> => {
        const params = { name, arguments: { limit: 1 } };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
        const { result, ...other }: Json = await jsonOf(await post(url, "/mcp", key, body, accept));
        assert.ok(result, JSON.stringify(other));
        if (!result.isError) return true;
        assert.match(result.content[0].text, /Rate limit exceeded \(37\/minute\); wait \d+ second/);
        return false;
      };
      const overA2a = async (url: string, key: string): Promise<boolean> => {
        const parts = [{ kind: "data", data: { skill: name, arguments: { limit: 1 } } }];
        const message = { kind: "message", messageId: "m", role: "user", parts };
        const params = { message };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "message/send", params });
        const response = await post(url, "/a2a", key, body);
        await response.body?.cancel();
        assert.ok([200, 429].includes(response.status));
        return response.status === 200;
      };
      const { passed, more } = await runInOneMinute(20, async () => {
        const { key } = await keyIn(database);
        const passed: boolean[] = [];
        // Each call takes one of the 1,024 files that a process may have open.
        await Promise.all(Array.from({ length: AT_ONCE }, async (_, first) => {
          for (let n = first; n < 1_000; n += AT_ONCE) {
            const { url } = two[n % 2]!;
            passed.push(await (n % 5 === 0 ? overA2a(url, key) : overMcp(url, key)));
          }
        }));
        const more = await connectHttp(two[0]!.url, key).then(() => "connected", String);
        return { passed, more };
      });
      assert.equal(passed.filter(Boolean).length, LIMIT);
      assert.match(more, /429|Rate limit/);
    } finally {
      await Promise.all(two.map((one) => one.kill()));
    }
  });
});

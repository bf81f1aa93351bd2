import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ROOT } from "../../config.ts";
import { issueKey, openStore } from "../../store/mod.ts";
import { program } from "../_programs.ts";
import { freePort, type TestDatabase, testDatabase } from "../_servers.ts";
import { connect, getJson, openStream } from "./_tool_server.ts";

describe("the tool server's processes", () => {
  let database: TestDatabase;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.drop());

  it("serves the operations' tools, logs no key, and stops in order with a stream open", async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [await program("processes/mcp.ts")], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: database.urls.owner,
        SEALOOP_DATABASE_APP_URL: database.urls.app,
        SEALOOP_MCP_PORT: String(port),
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    const lines: string[] = [];
    const output = createInterface(child.stdout);
    const ready = new Promise<void>((resolve, reject) => {
      output.on("line", (line) => {
        lines.push(line);
        if (JSON.parse(line).msg === "ready") resolve();
      });
      exited.then(() => reject(new Error(`It ended early:\n${lines.join("\n")}`)));
    });
    try {
      await ready;
      const url = `http://127.0.0.1:${port}`;
      assert.ok((await getJson(`${url}/health`)).tools > 10);
      const key = await issue(database);
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

  it("serve the client that started one, under the key of its environment", async () => {
    const client = new Client({ name: "test", version: "1" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [await program("processes/mcp_stdio.ts")],
      cwd: ROOT,
      env: {
        PATH: process.env.PATH!,
        DATABASE_URL: database.urls.owner,
        SEALOOP_DATABASE_APP_URL: database.urls.app,
        SEALOOP_MCP_KEY: await issue(database),
      },
      stderr: "ignore",
    });
    await client.connect(transport);
    const { isError, _meta } = await client.callTool({ name: "ledger.search_receipts" });
    assert.ok(!isError);
    assert.match(String(_meta?.receipt_id), /^[0-9a-f]{16}$/);
    await client.close();
  });
});

async function issue(database: TestDatabase): Promise<string> {
  const store = openStore(database.urls.app, "app");
  const { key } = await issueKey(store.knex, {
    tenant: "test",
    tier: "partner",
    scope: "full",
    principal: "test",
    mayApprove: false,
    expiresAt: null,
  });
  await store.close();
  return key;
}

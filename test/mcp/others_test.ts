import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Download, installNpm, installPython } from "../_download.ts";
import { fixtures, NOT_OFFERED } from "./_conformance.ts";
import { type Json, startToolServer, type TestToolServer } from "./_tool_server.ts";

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 400_000;

describe("third-party clients", () => {
  let server: TestToolServer;
  let key: string;
  let folder: string;
  before(async () => {
    server = await startToolServer({
      extra: fixtures,
      settings: { SEALOOP_LIMIT_TOOLS: "10000" },
    });
    ({ key } = await server.key());
    folder = await mkdtemp(join(tmpdir(), "sealoop-clients-"));
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  /** Returns the folder of a program, or skips the test. */
  const requireProgram = (download: Download, test: Mocha.Context): string => {
    if ("folder" in download) return download.folder;
    console.log(`      not run: ${download.missing}`);
    return test.skip();
  };

  it("pass MCP's conformance scenarios for the features offered", async function () {
    this.timeout(INSTALL_TIMEOUT_MS);
    const where = requireProgram(await installNpm("conformance"), this);
    const expected = join(folder, "expected.yaml");
    writeFileSync(expected, `server:\n${NOT_OFFERED.map((one) => `  - ${one}\n`).join("")}`);
    const program = join(where, "node_modules", ".bin", "conformance");
    const url = `${server.url}/mcp?api_key=${key}`;
    const args = ["server", "--url", url, "--suite", "all", "--expected-failures", expected];
    const ended = await run(program, args, { cwd: folder }).catch((error) => error);
    assert.match(String(ended.stdout), /Baseline check passed/, `${ended.stdout}${ended.stderr}`);
  });

  it("list and call tools with the Inspector's command line", async function () {
    this.timeout(INSTALL_TIMEOUT_MS);
    const where = requireProgram(await installNpm("inspector"), this);
    const scope = join(where, "node_modules", "@modelcontextprotocol");
    // It reads its version from the Inspector's package, which is a whole web application.
    writeFileSync(join(scope, "package.json"), '{"name":"inspector","version":"1.0.3"}');
    const program = join(scope, "inspector-cli", "build", "index.js");
    const inspect = async (path: string, transport: string, ...args: string[]) => {
      const to = [`${server.url}${path}`, "--transport", transport];
      const header = ["--header", `Authorization: Bearer ${key}`];
      return JSON.parse(
        (await run(process.execPath, [program, ...to, ...args, ...header])).stdout,
      );
    };
    const { tools } = await inspect("/mcp", "http", "--method", "tools/list");
    assert.ok(tools.length > 20);
    const call = ["--method", "tools/call", "--tool-name", "ledger.search_receipts"];
    const result = await inspect("/sse", "sse", ...call, "--tool-arg", "limit=1");
    assert.match(result._meta.receipt_id, /^[0-9a-f]{16}$/);
  });

  it("of the Python SDK work over both transports, in both generations", async function () {
    this.timeout(INSTALL_TIMEOUT_MS);
    const where = requireProgram(await installPython("mcp"), this);
    const script = new URL("client.py", import.meta.url).pathname;
    const { stdout } = await run(join(where, "bin", "python"), [script, server.url, key]);
    const results = JSON.parse(stdout);
    assert.deepEqual(results.map(({ version }: Json) => version), [
      "2026-07-28",
      "2025-11-25",
      "2025-11-25",
    ]);
    for (const { tools, receipt, progress, templates, error } of results) {
      assert.ok(tools > 20);
      assert.match(receipt, /^[0-9a-f]{16}$/);
      assert.deepEqual(progress, [0, 50, 100]);
      assert.ok(templates.includes("sealoop://tickets/{ticket_id}"));
      assert.match(error, /title: Field required/);
    }
  });
});

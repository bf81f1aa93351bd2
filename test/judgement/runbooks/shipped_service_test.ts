import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { stopManagedProcess } from "../../../integrations/host/mod.ts";
import { testFolder } from "../../_run.ts";
import { writeOldFile } from "./_runbook.ts";
import { createRunner, type RunRunbook } from "./_shipped.ts";

describe("the shipped runbooks, for a service", () => {
  let dataDir: string;
  let runRunbook: RunRunbook;
  let server: Server;
  let at: string;
  let clears = 0;
  before(async () => {
    dataDir = await testFolder();
    runRunbook = createRunner(dataDir);
    server = createServer((req, res) => {
      if (req.url === "/clear") clears++;
      res.writeHead(clears > 0 || req.url === "/clear" ? 200 : 500).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => void server.close());
  const service = (name: string) => ({
    name,
    host: "localhost",
    check: { tcp: at },
    restart: { process: { command: ["sleep", "30"] } },
  });

  it("restart-service and stuck-queue restart its process", async () => {
    for (const [runbook, name] of [["restart-service", "one"], ["stuck-queue", "two"]] as const) {
      const { codes, seen } = await runRunbook(runbook, {}, { service: service(name) });
      await stopManagedProcess(dataDir, name);
      assert.deepEqual([codes, seen], [["started"], ["ok"]]);
    }
  });

  it("stale-lock-files moves its locks aside before it restarts it", async () => {
    const folder = await testFolder();
    await writeOldFile(join(folder, "svc.lock"), 1, 1);
    const values = { lock_folders: [folder] };
    const { codes, seen } = await runRunbook("stale-lock-files", values, {
      service: service("locked"),
    });
    await stopManagedProcess(dataDir, "locked");
    assert.deepEqual([codes, seen], [["moved_beside", "started"], ["ok", "ok"]]);
    assert.ok(!existsSync(join(folder, "svc.lock")));
  });

  it("service-spool-full clears its spool and verifies that it is healthy", async () => {
    const folder = await testFolder();
    await writeOldFile(join(folder, "1.done"), 2);
    await writeOldFile(join(folder, "2.waiting"), 2);
    const { codes, seen } = await runRunbook("service-spool-full", { spool: [folder] }, {
      service: service("spooling"),
    });
    assert.deepEqual([codes, seen], [["moved_beside", "purged"], ["ok", "ok"]]);
    assert.deepEqual(readdirSync(folder), ["2.waiting"]);
  });

  it("application-cache-clear calls its endpoint once and verifies that it is healthy", async () => {
    const values = { clear_url: `http://${at}/clear` };
    const { codes, seen } = await runRunbook("application-cache-clear", values, {
      service: { ...service("cached"), check: { http: `http://${at}/` } },
      values,
    });
    assert.deepEqual([codes, seen, clears], [["status_200"], ["ok"], 1]);
  });

  it("dependency-away waits for its dependency, and memory-pressure tells its owner", async () => {
    const waited = await runRunbook("dependency-away", { dependency: at });
    assert.deepEqual(waited.codes, ["told", "ok"]);
    const { codes, messages } = await runRunbook("memory-pressure", {}, {
      service: service("leaky"),
    });
    await stopManagedProcess(dataDir, "leaky");
    if (codes.length === 2) {
      assert.match(messages[0]!, /^leaky? was restarted|^svc was restarted/);
    }
    assert.equal(codes[0], "started");
  });
});

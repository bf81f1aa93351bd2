import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../config.ts";
import { identifyProcess } from "../../../runtime/embedded/mod.ts";
import {
  buildPortRegistry,
  type ListeningSocket,
  listPortClaims,
  listSockets,
  recordManagedProcess,
} from "../../../integrations/host/mod.ts";
import type { ServiceWithPorts } from "../../../store/cmdb/mod.ts";
import { freePort, testFolder } from "../../_run.ts";

const service = (name: string, more: Partial<ServiceWithPorts> = {}): ServiceWithPorts => ({
  name,
  host: "localhost",
  check: null,
  ports: [],
  ...more,
});
const socket = (port: number, program: string, address = "127.0.0.1"): ListeningSocket => ({
  port,
  program,
  address,
});

describe("listPortClaims()", () => {
  it("lists ports of this host, of services and of their checks", async () => {
    const config = loadConfig({ SEALOOP_DATA: await testFolder() });
    const claims = listPortClaims(config, [
      service("web", { check: { http: "http://127.0.0.1:9000/health" } }),
      service("site", { check: { http: "https://localhost/" } }),
      service("db", { check: { tcp: "[::1]:9001" }, ports: [{ port: 9001, program: "postgres" }] }),
      service("away", { check: { tcp: "192.0.2.1:9002" } }),
      service("elsewhere", { host: "app1", ports: [{ port: 9003, program: null }] }),
      service("cron", { check: { command: ["true"] } }),
    ]).filter(({ by }) => by !== "setting");
    assert.deepEqual(claims.map(({ port, service, by, program }) => [port, service, by, program]), [
      [9000, "web", "http", null],
      [443, "site", "http", null],
      [9001, "db", "ports", "postgres"],
    ]);
  });

  it("lists the platform's own servers, and the embedded ones while they run", async () => {
    const dataDir = await testFolder();
    const config = loadConfig({ SEALOOP_DATA: dataDir, SEALOOP_POSTGRES_PORT: "5999" });
    const names = () => listPortClaims(config, []).map(({ service }) => service);
    assert.deepEqual(names(), ["gateway", "tool-server", "public-ledger", "engine"]);
    writeFileSync(
      join(dataDir, "run.json"),
      JSON.stringify({ processes: [{ name: "PostgreSQL", pid: process.pid }] }),
    );
    const claim = listPortClaims(config, []).find(({ service }) => service === "postgresql");
    const { port, setting, pid } = claim!;
    assert.deepEqual([port, setting, pid], [5999, "SEALOOP_POSTGRES_PORT", process.pid]);
  });
});

describe("buildPortRegistry()", () => {
  const claims = (services: readonly ServiceWithPorts[]) =>
    listPortClaims(loadConfig({ SEALOOP_DATA: "/nowhere" }), services)
      .filter(({ by }) => by !== "setting");
  const declares = (name: string, port: number, program: string | null = null) =>
    service(name, { ports: [{ port, program }] });
  const kinds = (services: readonly ServiceWithPorts[], sockets: readonly ListeningSocket[]) =>
    buildPortRegistry(claims(services), sockets).flatMap(({ conflicts }) =>
      conflicts.map(({ kind, detail }) => [kind, detail])
    );

  it("reports two services that declare one port, but not two that are checked through one web server", () => {
    assert.deepEqual(kinds([declares("a", 9000), declares("b", 9000)], []), [
      ["declared_twice", "Port 9000 is declared for a and b"],
    ]);
    const behind = (name: string) =>
      service(name, { check: { http: `http://localhost:9000/${name}` } });
    assert.deepEqual(kinds([behind("a"), behind("b")], [socket(9000, "nginx")]), []);
    assert.equal(kinds([behind("a"), declares("b", 9000)], [])[0]![0], "declared_twice");
  });

  it("reports a program that holds the port of another", () => {
    const db = declares("db", 5432, "postgres");
    assert.deepEqual(kinds([db], [socket(5432, "java")]), [
      ["held_by_another", "Port 5432 is declared for db, but java holds it, not postgres"],
    ]);
    assert.deepEqual(kinds([db], [socket(5432, "postgres")]), []);
    assert.deepEqual(kinds([declares("db", 5432)], [socket(5432, "java")]), []);
  });

  it("reports two programs on one port, but not one on two addresses", () => {
    assert.deepEqual(kinds([], [socket(80, "nginx", "0.0.0.0"), socket(80, "node")]), [
      ["two_programs", "nginx and node both listen on port 80, on different addresses"],
    ]);
    assert.deepEqual(kinds([], [socket(80, "nginx", "0.0.0.0"), socket(80, "nginx", "::")]), []);
  });

  it("tells a managed service's own process from another of the same program", async () => {
    const config = loadConfig({ SEALOOP_DATA: await testFolder() });
    const port = await freePort();
    const [holder, other] = [await listener(port), await listener(await freePort())];
    try {
      const conflicts = async (pid: number) => {
        recordManagedProcess(config.dataDir, {
          ...identifyProcess(pid)!,
          name: "web",
          effect_id: "test",
        });
        const claims = listPortClaims(config, [declares("web", port)]);
        const found = buildPortRegistry(claims, await listSockets());
        return found.find((entry) => entry.port === port)!.conflicts.map(({ kind }) => kind);
      };
      assert.deepEqual(await conflicts(holder.pid!), []);
      assert.deepEqual(await conflicts(process.pid), []); // it started the holder
      assert.deepEqual(await conflicts(other.pid!), ["held_by_another"]);
    } finally {
      holder.kill();
      other.kill();
    }
  });
});

async function listener(port: number): Promise<ChildProcess> {
  const script =
    `require("net").createServer().listen(${port}, "127.0.0.1", () => process.send(0))`;
  const child = spawn(process.execPath, ["-e", script], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await once(child, "message");
  return child;
}

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { isRunning } from "../runtime/embedded/mod.ts";
import { ROLES } from "../store/mod.ts";
import { platformSettings, startPlatform, type TestPlatform } from "./_platform.ts";
import { testFolder } from "./_run.ts";
import { type TestDatabase, testDatabase, testTemporal } from "./_servers.ts";
import { eventually } from "./_time.ts";

const READY = /sealoop is ready/;
/** Servers that it keeps, by the names of its processes. */
const SERVERS = ["PostgreSQL", "Temporal"];

/** A line of `/v1/admin/services`. */
interface Service {
  readonly name: string;
  readonly pid: number | null;
  readonly status: string;
  readonly restarts: number | null;
}

describe("npm start", () => {
  let data: string;
  let settings: Record<string, string>;
  const started: TestPlatform[] = [];
  /** The platform that one test leaves to the next, as a start takes seconds. */
  let running: TestPlatform;
  /** An approval that waits meanwhile, and the keys of the program that asks and of who may approve. */
  let asked: Record<string, unknown>;
  const keys: Record<string, string> = {};

  function start(other: Record<string, string> = {}): TestPlatform {
    const platform = startPlatform({ ...settings, ...other });
    started.push(platform);
    return platform;
  }

  before(async () => {
    data = join(await testFolder(), "data");
    settings = await platformSettings(data);
  });

  after(async () => {
    for (const platform of started) await platform.end();
  });

  it("comes up from an empty data folder, and says where everything is", async () => {
    const platform = start();
    await platform.until(/Logs .*\n/);
    const text = platform.output();
    assert.match(text, READY);
    assert.match(text, new RegExp(`PostgreSQL .* on 127.0.0.1:${settings.SEALOOP_POSTGRES_PORT} `));
    assert.match(
      text,
      new RegExp(`Temporal UI +http://127.0.0.1:${settings.SEALOOP_TEMPORAL_UI_PORT}`),
    );
    assert.match(text, new RegExp(`Admin key +${join(data, "admin.key")}`));
    const key = readFileSync(join(data, "admin.key"), "utf8").trim();
    assert.match(text, new RegExp(`First key +${key} `));
    const recoveryKey = join(data, "recovery.key"); // as the output is no terminal
    assert.match(text, new RegExp(`Recovery key in ${recoveryKey} `));
    assert.equal(statSync(recoveryKey).mode & 0o777, 0o600);
    const secret = readFileSync(recoveryKey, "utf8").trim();
    assert.match(secret, /^[A-Za-z0-9+/=]{64}$/);
    assert.ok(!text.includes(secret));
    assert.equal(statSync(join(data, "postgres.json")).mode & 0o777, 0o600);
    await query("CREATE TABLE kept AS SELECT 42 AS answer");
  });

  it("logs each process in as a role of its own", async () => {
    const { owner: _, ...others } = ROLES; // that one is for the start alone
    const rows = await query(
      `SELECT DISTINCT usename::text AS name FROM pg_stat_activity
       WHERE datname = current_database() AND usename IS NOT NULL AND pid <> pg_backend_pid()`,
    ) as { name: string }[];
    const names = new Set<string>(Object.values(others));
    assert.deepEqual(rows.filter(({ name }) => !names.has(name)), []);
    const lasting = ["gateway", "tools", "worker", "sequencer", "ledger", "operator"]; // the engine's close when it idles
    for (const role of lasting) {
      assert.ok(rows.some(({ name }) => name === `sealoop_${role}`), role);
    }
  });

  it("refuses a second start on the same data, and names the first", async () => {
    const second = start(await platformSettings(data));
    assert.equal(await second.ended, 1);
    assert.match(
      second.output(),
      new RegExp(`Another sealoop \\(pid ${started[0]!.process.pid}\\)`),
    );
    assert.match(second.output(), /SEALOOP_DATA/);
  });

  it("names the ports that are in use, who holds them, and the settings", async () => {
    const second = start({ SEALOOP_DATA: join(await testFolder(), "data") });
    assert.equal(await second.ended, 1);
    const port = settings.SEALOOP_POSTGRES_PORT;
    assert.match(second.output(), new RegExp(`port ${port} is in use by another program`));
    if (process.platform === "linux") assert.match(second.output(), /\(pid \d+, postgres\)/);
    assert.match(second.output(), /Set SEALOOP_POSTGRES_PORT to a free port, or DATABASE_URL/);
    assert.match(second.output(), /Set SEALOOP_TEMPORAL_PORT to a free port, or TEMPORAL_ADDRESS/);
  });

  it("stops on SIGTERM, leaves no process, and frees its ports", async () => {
    const processes = started[0]!.processes();
    assert.ok(processes.length >= 2, "PostgreSQL and Temporal at least");
    const before = Date.now();
    assert.equal(await started[0]!.end("SIGTERM"), 0);
    assert.ok(Date.now() - before < 60_000, "15 s, where nothing else keeps the machine busy");
    assert.deepEqual(processes.filter(isRunning), []);
    assert.deepEqual(await portsInUse(), []);
    assert.deepEqual(["run.json", "run.lock"].filter((name) => existsSync(join(data, name))), []);
  });

  it("goes on with the same data after it was killed, and leaves nothing running meanwhile", async () => {
    const killed = start();
    await killed.until(READY);
    await askForApproval();
    const processes = killed.processes();
    await killed.end("SIGKILL");
    await eventually(async () => !processes.some(isRunning));

    running = start();
    await running.until(READY);
    assert.ok(!running.output().includes("First key"), "it was shown at the first start alone");
    assert.deepEqual(await query("SELECT answer FROM kept"), [{ answer: 42 }]);
  });

  it("starts at once after it and its lifeline were killed, stopping what they left", async () => {
    const processes = running.processes();
    process.kill(lifelineOf(running), "SIGKILL");
    const own = processes.filter(({ name }) => !SERVERS.includes(name));
    for (const { pid } of own) process.kill(pid, "SIGKILL");
    await running.end("SIGKILL");

    running = start();
    await running.until(READY);
    assert.match(running.output(), /Left over by one that was killed, and stopped: .*PostgreSQL/);
    assert.deepEqual(processes.filter(isRunning), []);
  });

  it("starts PostgreSQL and Temporal again when they are killed, and goes on with their data", async () => {
    for (const name of SERVERS) {
      const before = running.processes().find((process) => process.name === name)!;
      process.kill(before.pid, "SIGKILL");
    }
    await running.until(
      /PostgreSQL was started again[^]*Temporal was|Temporal was started again[^]*PostgreSQL was/,
    );
    assert.match(running.output(), /PostgreSQL ended \(.*\); restarting it in 0\.5 s/);
    assert.deepEqual(await query("SELECT answer FROM kept"), [{ answer: 42 }]);
  });

  it("shows an admin every process with its pid and its restarts", async () => {
    const headers = { "x-api-key": readFileSync(join(data, "admin.key"), "utf8").trim() };
    const url = `http://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}/v1/admin/services`;
    const list = async () => {
      const response = await fetch(url, { headers }).catch(() => undefined);
      return response?.status === 200
        ? (await response.json() as { services: Service[] }).services
        : [];
    };
    let services: readonly Service[] = [];
    const find = (wanted: string) => services.find(({ name }) => name === wanted)!;
    await eventually(async () => {
      services = await list();
      return services.length > 0 && services.every(({ status }) => status === "running") &&
        [find("postgresql"), find("temporal")].every(({ restarts }) => restarts !== null); // it is told of both
    });
    const processes = running.processes();
    for (const name of ["gateway", "mcp", "worker", "sequencer", "engine", "ledger"]) {
      assert.equal(find(name).pid, processes.find((one) => one.name === name)!.pid, name);
    }
    assert.equal(find("supervisor").pid, running.process.pid);
    assert.deepEqual([find("postgresql").restarts, find("temporal").restarts], [1, 1]);
    assert.equal(find("temporal").pid, processes.find(({ name }) => name === "Temporal")!.pid);
    assert.equal(find("signer").pid, find("sequencer").pid);
  });

  it("has an approval wait while everything is killed with -9 and started again", async () => {
    const path = `/v1/approvals/${asked.approval_id}`;
    assert.equal((await call("GET", `${path}/info`, keys.program!)).status, "pending");
    const approved = await call("POST", `${path}/approve`, keys.ann!);
    assert.equal(approved.status, "approved", JSON.stringify(approved));
    const result = `/v1/workflows/${asked.workflow_id}/result?timeout_seconds=60`;
    const { result: end } = await call("GET", result, keys.program!);
    assert.equal((end as Record<string, unknown>).action_sha256, asked.action_sha256);
  });

  it("stops on SIGINT, and leaves no process", async () => {
    assert.equal(await running.end("SIGINT"), 0);
    assert.deepEqual(running.processes(), []);
  });

  it("refuses a setting that it does not know, and touches nothing", async () => {
    const folder = join(await testFolder(), "data");
    const platform = start({ SEALOOP_DATA: folder, SEALOOP_GATEWAY_PORTS: "1" });
    assert.equal(await platform.ended, 1);
    assert.match(platform.output(), /SEALOOP_GATEWAY_PORTS is not a setting; did you mean/);
    assert.equal(existsSync(folder), false);
  });

  it("says so in a line when it cannot write to the data folder", async () => {
    const file = join(await testFolder(), "file");
    writeFileSync(file, "");
    const platform = start({ SEALOOP_DATA: join(file, "data") });
    assert.equal(await platform.ended, 1);
    assert.match(
      platform.output(),
      /Cannot write to the data folder .*: a part of that path is a file/,
    );
    assert.doesNotMatch(platform.output(), /^ {4}at /m);
  });

  it("uses the servers that the environment names, and starts none of its own", async () => {
    const folder = join(await testFolder(), "data");
    const policy = join(folder, "sealoop.governance.yaml");
    const { database, servers } = await namedServers();
    const elsewhere = { SEALOOP_DATA: folder, ...servers };
    mkdirSync(folder, { recursive: true });
    writeFileSync(policy, "rules:\n  - name: own\n    wen: {}\n    then: deny\n");
    const misspelt = start(elsewhere);
    assert.equal(await misspelt.ended, 1);
    const mistake = `${policy}:3:5: rule own: wen: There is no such field; did you mean when?`;
    const [last] = misspelt.output().trim().split("\n").slice(-1);
    assert.ok(last!.startsWith("Stopped: ") && last!.endsWith(mistake), misspelt.output());
    assert.doesNotMatch(misspelt.output(), /Gateway +on/);

    writeFileSync(policy, "rules:\n  - name: own\n    then: deny\n");
    const platform = start(elsewhere);
    await platform.until(READY);
    const names = platform.processes().map(({ name }) => name);
    assert.ok(!names.includes("PostgreSQL") && !names.includes("Temporal"), names.join());
    assert.doesNotMatch(platform.output(), /Temporal UI/);
    assert.equal(await platform.end(), 0);
    await database.drop();
  });

  it("names the connection strings that it lacks, one for each role", async () => {
    const platform = start({
      SEALOOP_DATA: join(await testFolder(), "data"),
      DATABASE_URL: "postgres://sealoop_owner@127.0.0.1:1/none",
    });
    assert.equal(await platform.ended, 1);
    assert.match(platform.output(), /SEALOOP_DATABASE_TOOLS_URL, for sealoop_tools/);
    assert.match(platform.output(), /npm run database -- roles/);
  });

  it("says in a line that the database it was given cannot be used", async () => {
    const platform = start({
      SEALOOP_DATA: join(await testFolder(), "data"),
      ...databaseSettings("postgres://nobody@127.0.0.1:1/none"),
    });
    assert.equal(await platform.ended, 1);
    const last = /\nStopped: Cannot use the database at 127\.0\.0\.1:1: .*ECONNREFUSED.*\n$/;
    assert.match(platform.output(), last);
    assert.doesNotMatch(platform.output(), READY);
  });

  it("starts nothing on a disk that is full, and its last line says so", async function () {
    const folder = await testFolder();
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=20m", "tmpfs", folder]);
    if (mounted.status !== 0) this.skip(); // it takes root
    try {
      const platform = start({ SEALOOP_DATA: join(folder, "data") });
      assert.equal(await platform.ended, 1);
      assert.match(
        platform.output(),
        /\nStopped: The disk is full: .* MiB left.*SEALOOP_DATA.*\n$/,
      );
      assert.doesNotMatch(platform.output(), READY);
    } finally {
      spawnSync("umount", ["-l", folder]);
    }
  });

  it("refuses to start over a settings file that is wrong and was never in force, with its line", async () => {
    const folder = join(await testFolder(), "data");
    mkdirSync(folder, { mode: 0o711 });
    writeFileSync(join(folder, "sealoop.policy.yaml"), "freezes: []\nbound: {}\n");
    const { database, servers } = await namedServers();
    const platform = start({ SEALOOP_DATA: folder, ...servers });
    assert.equal(await platform.ended, 1);
    await database.drop();
    assert.match(
      platform.output(),
      /sealoop\.policy\.yaml:2:1: bound: unknown field; did you mean bounds\?\n/,
    );
    assert.doesNotMatch(platform.output(), READY);
  });

  async function call(method: string, path: string, key: string, body?: unknown) {
    const response = await fetch(`http://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}${path}`, {
      method,
      headers: { "x-api-key": key, ...(body ? { "content-type": "application/json" } : {}) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return await response.json() as Record<string, unknown>;
  }

  async function askForApproval(): Promise<void> {
    const admin = readFileSync(join(data, "admin.key"), "utf8").trim();
    for (const principal of ["program", "ann"]) {
      const may_approve = principal === "ann";
      const key = { tenant: "acme", tier: "partner", principal, may_approve };
      keys[principal] = String((await call("POST", "/v1/keys/generate", admin, key)).api_key);
    }
    const terms = { needed: 1, expires_in_seconds: 3 * 86_400, escalate_after_seconds: 10 };
    asked = await call("POST", "/v1/approvals", keys.program!, { action: { do: "it" }, ...terms });
    assert.equal(asked.status, "pending", JSON.stringify(asked));
  }

  /** Returns a database and a namespace on the servers of this run, and the settings that name them. */
  async function namedServers() {
    const database = await testDatabase();
    const temporal = await testTemporal();
    const servers = {
      ...databaseSettings(database.urls),
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
    };
    return { database, servers };
  }

  /** Returns the settings of an own database. @param urls by role, or one for all */
  function databaseSettings(urls: TestDatabase["urls"] | string): Record<string, string> {
    const settings = Object.keys(ROLES).map((role) => [
      role === "owner" ? "DATABASE_URL" : `SEALOOP_DATABASE_${role.toUpperCase()}_URL`,
      typeof urls === "string" ? urls : urls[role as keyof typeof urls],
    ]);
    return Object.fromEntries(settings);
  }

  async function query(sql: string): Promise<unknown[]> {
    const { owner } = JSON.parse(readFileSync(join(data, "postgres.json"), "utf8"));
    const port = settings.SEALOOP_POSTGRES_PORT;
    const client = new pg.Client(`postgres://sealoop_owner:${owner}@127.0.0.1:${port}/sealoop`);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async function portsInUse(): Promise<string[]> {
    const ports = Object.entries(settings).filter(([name]) => name.endsWith("_PORT"));
    const taken = await Promise.all(
      ports.map(async ([name, port]) => await isFree(port) ? [] : [name]),
    );
    return taken.flat();
  }
});

/** The lifeline of a platform: its child that was told the platform's own pid. */
function lifelineOf({ process: { pid } }: TestPlatform): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const isLifeline = (child: string) =>
    readFileSync(`/proc/${child}/cmdline`, "utf8").includes("lifeline");
  return Number(children.find(isLifeline));
}

function isFree(port: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(Number(port), "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

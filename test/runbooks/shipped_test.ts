import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { stopManagedProcess } from "../../integrations/host/mod.ts";
import {
  checkCommand,
  type ParameterValues,
  performStep,
  resolveRunbook,
  type StepContext,
  type StepOutcome,
  verifyStep,
} from "../../runbooks/mod.ts";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { freePort, testFolder, testPostgres } from "../_servers.ts";
import { newId, oldFile, shipped, surroundings } from "./_runbook.ts";

/** What became of a runbook: of each step what it came to, and what was seen then. */
interface Carried {
  readonly codes: readonly string[];
  readonly seen: readonly string[];
  readonly told: readonly string[];
}

describe("the runbooks that ship, carried out on this host", () => {
  let dataDir: string;
  before(async () => {
    dataDir = await testFolder();
  });

  async function carryOut(
    name: string,
    values: ParameterValues,
    more: Partial<StepContext> & { maxBytes?: number } = {},
  ): Promise<Carried> {
    const runbook = shipped.runbooks.find((one) => one.runbook === name)!;
    const { maxBytes, ...rest } = more;
    const disk = typeof values.disk === "string" ? { path: values.disk, maxBytes } : undefined;
    const { steps } = resolveRunbook(runbook, {
      ...{ service: "svc", values, catalogue: shipped, here: true, disk },
    });
    const ids = new Map(steps.map(({ step }) => [step, newId()]));
    const parts = surroundings(dataDir, { effectOf: (step) => ids.get(step)!, ...rest });
    const [codes, seen]: [string[], string[]] = [[], []];
    for (const step of steps) {
      const happened = await performStep(step, ids.get(step.step)!, parts);
      codes.push(happened.code);
      if (!happened.ok) break;
      const { ok, code } = await verifyStep(step, parts);
      seen.push(code);
      if (!ok) break;
    }
    return { codes, seen, told: parts.told };
  }

  /** A small disk of its own, or where nobody may mount, a folder with a bound. */
  async function smallDisk(after: (end: () => void) => void) {
    const disk = join(await testFolder(), "disk");
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,nr_inodes=300", "tmpfs", disk]);
      after(() => execFileSync("umount", [disk]));
      return { disk };
    } catch {
      return { disk, maxBytes: 4 * 2 ** 20 };
    }
  }
  const ends: (() => void)[] = [];
  after(() => ends.forEach((end) => end()));

  const CLEANING = [
    { name: "disk-clean-up-logs", parameter: "folders", file: "app.log.1", days: 3 },
    { name: "disk-clean-up-temporary-files", parameter: "folders", file: "anything", days: 8 },
    { name: "disk-clean-up-package-caches", parameter: "folders", file: "one_1.0.deb", days: 2 },
    { name: "core-dump-clean-up", parameter: "folders", file: "core.4711", days: 2 },
    { name: "database-disk-full", parameter: "folders", file: "monday.dump", days: 1 },
  ];
  for (const { name, parameter, file, days } of CLEANING) {
    it(`${name} makes room on a disk that is full, and leaves what is young or other`, async () => {
      const { disk, maxBytes } = await smallDisk((end) => ends.push(end));
      const folder = join(disk, "folder");
      await oldFile(join(folder, file), days, 3 * 2 ** 20);
      await oldFile(join(folder, `young-${file}`), 0, 1_000);
      await oldFile(join(folder, "data.lock"), 99, 1_000);
      await oldFile(join(disk, "other", file), days, 600_000);
      const { codes, seen } = await carryOut(name, { [parameter]: [folder], disk }, { maxBytes });
      assert.deepEqual(codes, ["moved_elsewhere", "kept_elsewhere"]);
      assert.deepEqual(seen, ["ok", "ok"]);
      assert.deepEqual(readdirSync(folder).sort(), ["data.lock", `young-${file}`].sort());
      assert.ok(existsSync(join(disk, "other", file)));
    });
  }

  it("inode-exhaustion gives inodes back", async function () {
    const { disk, maxBytes } = await smallDisk((end) => ends.push(end));
    if (maxBytes) return this.skip(); // a folder has no inodes of its own
    for (let n = 0; n < 280; n++) await oldFile(join(disk, "sessions", `sess_${n}`), 2, 1);
    const values = { folders: [join(disk, "sessions")], disk };
    const { codes, seen } = await carryOut("inode-exhaustion", values);
    assert.deepEqual([codes, seen], [["moved_elsewhere", "kept_elsewhere"], ["ok", "ok"]]);
  });

  describe("for a service", () => {
    let server: Server;
    let at: string;
    let clears = 0;
    before(async () => {
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
      check: { tcp: at },
      restart: { process: { command: ["sleep", "30"] } },
    });

    it("restart-service and stuck-queue start its process anew", async () => {
      for (const [runbook, name] of [["restart-service", "one"], ["stuck-queue", "two"]] as const) {
        const { codes, seen } = await carryOut(runbook, {}, { service: service(name) });
        await stopManagedProcess(dataDir, name);
        assert.deepEqual([codes, seen], [["started"], ["ok"]]);
      }
    });

    it("stale-lock-files moves its locks aside before it starts it", async () => {
      const folder = await testFolder();
      await oldFile(join(folder, "svc.lock"), 1, 1);
      const values = { lock_folders: [folder] };
      const { codes, seen } = await carryOut("stale-lock-files", values, {
        service: service("locked"),
      });
      await stopManagedProcess(dataDir, "locked");
      assert.deepEqual([codes, seen], [["moved_beside", "started"], ["ok", "ok"]]);
      assert.ok(!existsSync(join(folder, "svc.lock")));
    });

    it("service-spool-full clears its spool and sees it healthy", async () => {
      const folder = await testFolder();
      await oldFile(join(folder, "1.done"), 2);
      await oldFile(join(folder, "2.waiting"), 2);
      const { codes, seen } = await carryOut("service-spool-full", { spool: [folder] }, {
        service: service("spooling"),
      });
      assert.deepEqual([codes, seen], [["moved_beside", "purged"], ["ok", "ok"]]);
      assert.deepEqual(readdirSync(folder), ["2.waiting"]);
    });

    it("application-cache-clear calls its endpoint, once, and sees it healthy", async () => {
      const values = { clear_url: `http://${at}/clear` };
      const { codes, seen } = await carryOut("application-cache-clear", values, {
        service: { ...service("cached"), check: { http: `http://${at}/` } },
      });
      assert.deepEqual([codes, seen, clears], [["status_200"], ["ok"], 1]);
    });

    it("dependency-away waits for what it needs, and memory-pressure tells its owner", async () => {
      const waited = await carryOut("dependency-away", { dependency: at });
      assert.deepEqual(waited.codes, ["told", "ok"]);
      const { codes, told } = await carryOut("memory-pressure", {}, { service: service("leaky") });
      await stopManagedProcess(dataDir, "leaky");
      if (codes.length === 2) assert.match(told[0]!, /^leaky? was restarted|^svc was restarted/);
      assert.equal(codes[0], "started");
    });
  });

  it("those for the platform's own parts start their workflows", async () => {
    const started: string[] = [];
    const runWorkflow = (type: string): Promise<StepOutcome> => {
      started.push(type);
      return Promise.resolve({ state: "done", ok: true, code: "completed" });
    };
    for (const name of ["ledger-sequencer", "ledger-break", "anchors-late"]) {
      const { seen } = await carryOut(name, {}, { runWorkflow });
      assert.ok(seen.every((code) => code === "ok"));
    }
    assert.deepEqual(started, ["ledgerSequencer", "scrubLedger", "anchorReceipts"]);
  });

  it("login-attack tells people, and does nothing else", async () => {
    const { codes, told } = await carryOut("login-attack", {});
    assert.deepEqual([codes, told.length], [["told"], 1]);
  });

  it("postgresql-connections ends what was left in a transaction, and postgresql-vacuum vacuums", async function () {
    const tools = ["postgresql-connections", "postgresql-vacuum"].map((name) =>
      shipped.runbooks.find(({ runbook }) => runbook === name)!.steps[0]!.command!.argv[0]!
    );
    if (!tools.every((tool) => existsSync(join("/usr/bin", tool)))) return this.skip();
    const { superuserUrl } = await testPostgres();
    const url = new URL(superuserUrl);
    const { HOME } = process.env;
    process.env.HOME = await testFolder();
    await writeFile(join(process.env.HOME, ".pgpass"), `*:*:*:*:${url.password}\n`, {
      mode: 0o600,
    });
    const idle = new pg.Client({ connectionString: superuserUrl });
    idle.on("error", () => {});
    try {
      await idle.connect();
      await idle.query("BEGIN");
      const values = { db_host: url.hostname, db_port: url.port, db_user: url.username };
      const ended = await carryOut("postgresql-connections", values);
      const vacuumed = await carryOut("postgresql-vacuum", values);
      assert.deepEqual([ended.codes, vacuumed.codes], [["exit_0"], ["exit_0"]]);
      assert.ok((await idle.query("SELECT 1")).rows, "it was idle for less than ten minutes");
    } finally {
      process.env.HOME = HOME;
      await idle.end().catch(() => {});
    }
  });

  const NEEDS_SYSTEMD: Readonly<Record<string, ParameterValues>> = {
    "systemd-unit-restart": { unit: "no-such-unit.service" },
    "failed-unit": { unit: "no-such-unit.service" },
    "certificate-reload": { unit: "no-such-unit.service" },
    "dns-cache-flush": {},
  };
  for (const [name, values] of Object.entries(NEEDS_SYSTEMD)) {
    it(`${name} says that there is no systemd where there is none`, async function () {
      if (existsSync("/run/systemd/system")) return this.skip(); // and acts on nobody's units
      const { codes } = await carryOut(name, values);
      assert.match(codes.at(-1)!, /^no_(systemd|program)$/);
    });
  }

  it("those whose program is not installed say so, and do nothing", async () => {
    const absent: string[] = [];
    for (const { runbook, steps } of shipped.runbooks) {
      const [{ command }] = steps as unknown as [{ command?: { argv: string[] } }];
      if (!command || command.argv.some((arg) => arg.includes("{"))) continue;
      const permission = checkCommand(command, shipped.commands);
      if (permission.allowed || permission.code !== "no_program") continue;
      const { codes } = await carryOut(runbook, {});
      assert.deepEqual(codes, ["no_program"], runbook);
      absent.push(runbook);
    }
    if (absent.length === 0) console.log("      every program is installed here");
  });

  it("container-restart says that there is no engine where there is none", async function () {
    if (existsSync("/var/run/docker.sock") || process.env.DOCKER_HOST) return this.skip();
    assert.deepEqual((await carryOut("container-restart", { container: "web" })).codes, [
      "no_docker",
    ]);
  });

  it("a port at which nobody listens is waited for in vain", async () => {
    const runbook = shipped.runbooks.find((one) => one.runbook === "dependency-away")!;
    const short = {
      ...runbook,
      steps: runbook.steps.map((step) => ({ ...step, bounds: { within: "1s" } })),
    };
    const { steps: [, wait] } = resolveRunbook(short, {
      ...{ service: "svc", values: { dependency: `127.0.0.1:${await freePort()}` } },
      ...{ catalogue: shipped, here: true },
    });
    const happened = await performStep(wait!, newId(), surroundings(dataDir));
    assert.deepEqual([happened.ok, happened.code], [false, "refused"]);
  });
});

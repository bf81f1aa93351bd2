import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import {
  checkCommand,
  type ParameterValues,
  performStep,
  resolveRunbook,
  type StepOutcome,
} from "../../../judgement/runbooks/mod.ts";
import { freePort, testFolder } from "../../_run.ts";
import { testPostgres } from "../../_servers.ts";
import { createContext, newId, shipped, writeOldFile } from "./_runbook.ts";
import { createRunner, type RunRunbook } from "./_shipped.ts";

describe("the shipped runbooks, on this host", () => {
  let dataDir: string;
  let runRunbook: RunRunbook;
  before(async () => {
    dataDir = await testFolder();
    runRunbook = createRunner(dataDir);
  });

  /** Mounts a small disk, or where this user may not, makes a folder with a bound. */
  async function makeSmallDisk(after: (end: () => void) => void) {
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
    it(`${name} makes room on a full disk, and leaves young and other files`, async () => {
      const { disk, maxBytes } = await makeSmallDisk((end) => ends.push(end));
      const folder = join(disk, "folder");
      await writeOldFile(join(folder, file), days, 3 * 2 ** 20);
      await writeOldFile(join(folder, `young-${file}`), 0, 1_000);
      await writeOldFile(join(folder, "data.lock"), 99, 1_000);
      await writeOldFile(join(disk, "other", file), days, 600_000);
      const { codes, seen } = await runRunbook(name, { [parameter]: [folder], disk }, { maxBytes });
      assert.deepEqual(codes, ["moved_elsewhere", "kept_elsewhere"]);
      assert.deepEqual(seen, ["ok", "ok"]);
      assert.deepEqual(readdirSync(folder).sort(), ["data.lock", `young-${file}`].sort());
      assert.ok(existsSync(join(disk, "other", file)));
    });
  }

  it("inode-exhaustion frees inodes", async function () {
    const { disk, maxBytes } = await makeSmallDisk((end) => ends.push(end));
    if (maxBytes) return this.skip(); // a folder has no inodes of its own
    for (let n = 0; n < 280; n++) await writeOldFile(join(disk, "sessions", `sess_${n}`), 2, 1);
    const values = { folders: [join(disk, "sessions")], disk };
    const { codes, seen } = await runRunbook("inode-exhaustion", values);
    assert.deepEqual([codes, seen], [["moved_elsewhere", "kept_elsewhere"], ["ok", "ok"]]);
  });

  it("runbooks for the platform's own parts start their workflows", async () => {
    const started: string[] = [];
    const runWorkflow = (type: string): Promise<StepOutcome> => {
      started.push(type);
      return Promise.resolve({ state: "done", ok: true, code: "completed" });
    };
    for (const name of ["ledger-sequencer", "ledger-break", "anchors-late"]) {
      const { seen } = await runRunbook(name, {}, { runWorkflow });
      assert.ok(seen.every((code) => code === "ok"));
    }
    assert.deepEqual(started, ["ledgerSequencer", "scrubLedger", "anchorReceipts"]);
  });

  it("login-attack sends a message to people, and does nothing else", async () => {
    const { codes, messages } = await runRunbook("login-attack", {});
    assert.deepEqual([codes, messages.length], [["told"], 1]);
  });

  it("postgresql-connections ends idle transactions, and postgresql-vacuum vacuums", async function () {
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
      const ended = await runRunbook("postgresql-connections", values);
      const vacuumed = await runRunbook("postgresql-vacuum", values);
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
    it(`${name} is not done where there is no systemd`, async function () {
      if (existsSync("/run/systemd/system")) return this.skip(); // it must not act on real units
      const { codes } = await runRunbook(name, values);
      assert.match(codes.at(-1)!, /^no_(systemd|program)$/);
    });
  }

  it("runbooks whose program is not installed do nothing", async () => {
    const absent: string[] = [];
    for (const { runbook, steps } of shipped.runbooks) {
      const [{ command }] = steps as unknown as [{ command?: { argv: string[] } }];
      if (!command || command.argv.some((arg) => arg.includes("{"))) continue;
      const permission = checkCommand(command, shipped.commands);
      if (permission.allowed || permission.code !== "no_program") continue;
      const { codes } = await runRunbook(runbook, {});
      assert.deepEqual(codes, ["no_program"], runbook);
      absent.push(runbook);
    }
    if (absent.length === 0) console.log("      every program is installed here");
  });

  it("container-restart is not done where there is no engine", async function () {
    if (existsSync("/var/run/docker.sock") || process.env.DOCKER_HOST) return this.skip();
    assert.deepEqual((await runRunbook("container-restart", { container: "web" })).codes, [
      "no_docker",
    ]);
  });

  it("dependency-away fails where nobody listens in time", async () => {
    const runbook = shipped.runbooks.find((one) => one.runbook === "dependency-away")!;
    const short = {
      ...runbook,
      steps: runbook.steps.map((step) => ({ ...step, bounds: { within: "1s" } })),
    };
    const { steps: [, wait] } = resolveRunbook(short, {
      service: "svc",
      values: { dependency: `127.0.0.1:${await freePort()}` },
      catalogue: shipped,
      isLocal: true,
    });
    const outcome = await performStep(wait!, newId(), createContext(dataDir));
    assert.deepEqual([outcome.ok, outcome.code], [false, "refused"]);
  });
});

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { symlink, utimes } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  actOnce,
  findManagedProcess,
  type Service,
  stopManagedProcess,
} from "../../../integrations/host/mod.ts";
import {
  checkCommand,
  fillHolders,
  matchRunbooks,
  NotApplicable,
  type ObservedFacts,
  type ParameterValues,
  performStep,
  type ResolvedStep,
  resolveRunbook,
  type StepContext,
  type StepOutcome,
  undoStep,
  verifyStep,
} from "../../../judgement/runbooks/mod.ts";
import { identifyProcess } from "../../../runtime/embedded/mod.ts";
import { freePort, testFolder } from "../../_run.ts";
import { eventually } from "../../_time.ts";
import { createContext, newId, shipped, writeOldFile } from "./_runbook.ts";

/** Listens on the port that it is given. */
const LISTEN = `require("net").createServer().listen(+process.argv[1], "127.0.0.1")`;
const NODE = process.execPath;

/** Resolves and runs a shipped runbook for a cause that was observed. */
describe("the shipped runbooks for causes that were observed", () => {
  let dataDir: string;
  const closing: (() => unknown)[] = [];
  before(async () => {
    dataDir = await testFolder();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  interface Fault {
    readonly service: Pick<Service, "name" | "host" | "check" | "restart">;
    readonly values?: ParameterValues;
    readonly facts?: ObservedFacts;
    readonly disk?: { readonly path: string; readonly maxBytes?: number };
  }
  const serviceOf = (more: Partial<Service>) => ({
    name: "svc",
    host: "localhost",
    check: null,
    restart: null,
    ...more,
  });

  async function resolve(name: string, fault: Fault): Promise<ResolvedStep[]> {
    const runbook = shipped.runbooks.find((one) => one.runbook === name)!;
    const { steps } = resolveRunbook(runbook, {
      service: fault.service.name,
      values: fault.values ?? {},
      catalogue: shipped,
      isLocal: true,
      ...(fault.facts ? { facts: fault.facts } : {}),
      ...(fault.disk ? { disk: fault.disk } : {}),
    });
    return await fillHolders(steps, { dataDir, service: fault.service.name });
  }

  /** Performs the steps as an action does, until one does not end as it should. */
  async function perform(steps: readonly ResolvedStep[], more: Partial<StepContext>) {
    const ids = new Map(steps.map(({ step }) => [step, newId()]));
    const context = createContext(dataDir, { effectOf: (step) => ids.get(step)!, ...more });
    const outcomes: StepOutcome[] = [];
    for (const step of steps) {
      const outcome = await performStep(step, ids.get(step.step)!, context);
      outcomes.push(outcome);
      if (!outcome.ok || !(await verifyStep(step, context)).ok) break;
    }
    return { codes: outcomes.map(({ code }) => code), outcomes, ids, context };
  }

  const chosenFor = (cause: string, more: { values?: string[]; check?: string } = {}) =>
    matchRunbooks(shipped.runbooks, {
      service: { name: "svc", type: "web", restart: {}, check: {} },
      finding: { check: more.check ?? "http", code: "status_500" },
      category: cause.startsWith("disk") ? "storage" : "application",
      cause,
      text: "",
      gives: more.values ?? [],
    }).map(({ runbook }) => runbook);

  it("come before a restart where their cause is named, and nowhere else", () => {
    for (
      const [cause, runbook] of [
        ["port_taken", "port-taken"],
        ["descriptors_exhausted", "descriptor-limit"],
        ["clock_wrong", "clock-wrong"],
        ["dependency_slow", "dependency-fails"],
        ["dependency_down", "dependency-fails"],
        ["disk_full", "disk-full-rotated-logs"],
      ] as const
    ) {
      assert.equal(chosenFor(cause)[0], runbook);
      assert.ok(!chosenFor("memory_exhausted").includes(runbook), runbook);
    }
  });

  describe("port-taken", () => {
    let port: number;
    beforeEach(async () => {
      port = await freePort();
    });
    const service = (name: string) =>
      serviceOf({
        name,
        check: { tcp: `127.0.0.1:${port}` },
        restart: { process: { command: [NODE, "-e", LISTEN, String(port)] } },
      });
    const resolveTaken = (name: string, values: ParameterValues = {}) =>
      resolve("port-taken", { service: service(name), values, facts: { own_port: port } });

    async function hold(): Promise<ChildProcess> {
      const child = spawn(NODE, [
        "-e",
        `${LISTEN}.on("listening", () => console.log(1))`,
        String(port),
      ], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      closing.push(() => child.kill("SIGKILL"));
      await once(child.stdout!, "data");
      return child;
    }

    it("says who holds it, and stops nobody whom sealoop has not started", async () => {
      const child = await hold();
      await assert.rejects(resolveTaken("taken-1"), (error: unknown) => {
        assert.ok(error instanceof NotApplicable);
        assert.equal(error.code, "holder_not_ours");
        assert.match(error.message, new RegExp(`^node \\(process ${child.pid}, \`.*createServer`));
        assert.match(error.message, /since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\) holds the port/);
        return true;
      });
      assert.equal(child.exitCode, null);
    });

    it("stops a program that the services file names, and starts the service", async () => {
      const child = await hold();
      const ended = once(child, "exit");
      const name = "taken-2";
      const steps = await resolveTaken(name, { may_stop: ["node"] });
      closing.push(() => stopManagedProcess(dataDir, name));
      const { codes } = await perform(steps, { service: service(name) });
      await ended;
      assert.deepEqual(codes, ["stopped", "started"]);
    });

    it("stops a worker that outlived the process that sealoop had started", async () => {
      const name = "taken-3";
      const worker = `require("child_process").spawn(process.execPath, ["-e", ${
        JSON.stringify(LISTEN)
      }, "${port}"], { detached: true, stdio: "ignore" }); setInterval(() => {}, 1000)`;
      const act = { process: { command: [NODE, "-e", worker] } };
      await actOnce({ dataDir, effectId: newId(), service: name, act });
      closing.push(() => stopManagedProcess(dataDir, name));
      const steps = await eventually(async () => {
        try {
          return await resolveTaken(name);
        } catch (error) { // the server itself still runs, or its worker does not listen yet
          if (error instanceof NotApplicable && error.code === "holder_in_use") {
            await stopManagedProcess(dataDir, name);
          }
          return undefined;
        }
      });
      const { holder } = steps![0]!.stop!;
      assert.equal(holder!.startedBy, "leftover");
      const { codes } = await perform(steps!, { service: service(name) });
      assert.deepEqual(codes, ["stopped", "started"]);
      assert.equal(identifyProcess(holder!.pid), undefined);
      assert.ok(findManagedProcess(dataDir, name));
    });

    it("leaves the process of another service alone, whatever the services file names", async () => {
      const act = service("rival").restart!;
      await actOnce({ dataDir, effectId: newId(), service: "rival", act });
      closing.push(() => stopManagedProcess(dataDir, "rival"));
      const refusal = await eventually(() =>
        resolveTaken("taken-4", { may_stop: ["node"] }).catch((error: NotApplicable) =>
          error.code === "no_holder" ? undefined : error
        )
      );
      assert.ok(refusal instanceof NotApplicable);
      assert.equal(refusal.code, "holder_in_use");
      assert.match(refusal.message, /of the service rival$/);
      assert.ok(findManagedProcess(dataDir, "rival"));
    });

    it("stops nobody else who has taken the port since it was approved", async () => {
      const first = await hold();
      const steps = await resolveTaken("taken-5", { may_stop: ["node"] });
      first.kill("SIGKILL");
      await once(first, "exit");
      const second = await hold();
      const { codes } = await perform(steps, { service: service("taken-5") });
      assert.deepEqual(codes, ["another_holder"]);
      assert.equal(second.exitCode, null);
    });

    it("goes on where it was begun before a crash", async () => {
      const child = await hold();
      const [stop] = await resolveTaken("taken-6", { may_stop: ["node"] });
      const id = newId();
      const context = createContext(dataDir);
      const ended = once(child, "exit");
      assert.equal((await performStep(stop!, id, context)).code, "stopped");
      await ended;
      assert.deepEqual(await performStep(stop!, id, context), {
        state: "done",
        ok: true,
        code: "stopped",
      });
    });
  });

  describe("on a full disk", () => {
    /** Mounts a small disk, or where this user may not, makes a folder with a bound. */
    async function makeSmallDisk() {
      const path = join(await testFolder(), "disk");
      mkdirSync(path);
      try {
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", path], { stdio: "ignore" });
        closing.push(() => execFileSync("umount", ["--lazy", path]));
        return { path };
      } catch {
        return { path, maxBytes: 4 * 2 ** 20 };
      }
    }
    async function service() {
      const server = createServer((_, res) => res.end()).listen(0, "127.0.0.1");
      await once(server, "listening");
      closing.push(() => server.close());
      return serviceOf({ check: { tcp: `127.0.0.1:${(server.address() as AddressInfo).port}` } });
    }
    const MIB = 2 ** 20;

    it("disk-full-rotated-logs moves what is provably a rotated log, and puts it back", async () => {
      const disk = await makeSmallDisk();
      const at = (name: string) => join(disk.path, "logs", name);
      await writeOldFile(at("app.log"), 0, 1_000);
      await writeOldFile(at("app.log.1"), 1, MIB);
      await writeOldFile(at("app.log.2.gz"), 2, MIB);
      await writeOldFile(at("app-20260101.log"), 3, MIB);
      await writeOldFile(at("gone.log.1"), 3, 1_000); // no log beside it
      await writeOldFile(at("data.1"), 3, 1_000);
      await writeOldFile(at("data"), 0, 1_000); // no log
      await writeOldFile(at("held.log"), 0, 1_000);
      await writeOldFile(at("held.log.1"), 9, 500_000);
      const held = openSync(at("held.log.1"), "r");
      const before = readdirSync(join(disk.path, "logs")).sort();
      const fault = { service: await service(), facts: { full_folder: disk.path }, disk };
      const steps = await resolve("disk-full-rotated-logs", fault);
      const moving = steps.slice(0, 1);
      const { codes, ids, context } = await perform(moving, fault);
      assert.match(codes[0]!, /^moved_/);
      assert.ok(held > 0);
      const left = readdirSync(join(disk.path, "logs")).filter((name) => !name.startsWith("."));
      assert.deepEqual(
        before.filter((name) => !left.includes(name)),
        ["app-20260101.log", "app.log.1", "app.log.2.gz"].slice(0, before.length - left.length),
      );
      assert.ok(!left.includes("app-20260101.log"), "the oldest first");
      const undone = await undoStep(moving[0]!, ids.get("move-rotated-logs")!, newId(), context);
      assert.equal(undone.code, "put_back");
      assert.deepEqual(readdirSync(join(disk.path, "logs")).sort(), before);
      const again = await perform(await resolve("disk-full-rotated-logs", fault), fault);
      assert.equal(again.codes.length, 2);
      assert.ok(again.outcomes.every(({ ok }) => ok));
    });

    it("disk-full-rotated-logs does not fit where nothing is provably a rotated log", async () => {
      const disk = await makeSmallDisk();
      await writeOldFile(join(disk.path, "export.csv.1"), 9, MIB);
      await assert.rejects(
        resolve("disk-full-rotated-logs", {
          service: await service(),
          facts: { full_folder: disk.path },
          disk,
        }),
        { code: "nothing_to_move" },
      );
    });

    it("disk-full-old-deploys moves deploys that nothing leads to or runs in", async () => {
      const disk = await makeSmallDisk();
      const releases = join(disk.path, "releases");
      for (const [day, name] of ["7", "6", "5", "4", "3", "2"].entries()) {
        await writeOldFile(join(releases, name, "program"), 9 - day, 300_000);
        const then = Date.now() / 1_000 - (9 - day) * 86_400;
        await utimes(join(releases, name), then, then);
      }
      await symlink(join(releases, "2"), join(disk.path, "current"));
      const running = spawn("sleep", ["60"], { cwd: join(releases, "7"), stdio: "ignore" });
      closing.push(() => running.kill("SIGKILL"));
      await once(running, "spawn");
      const fault = { service: await service(), values: { releases: [releases] }, disk };
      const { outcomes } = await perform(await resolve("disk-full-old-deploys", fault), fault);
      assert.ok(outcomes.every(({ ok }) => ok));
      const kept = readdirSync(releases).filter((name) =>
        existsSync(join(releases, name, "program"))
      );
      assert.deepEqual(kept.sort(), ["2", "3", "4", "7"]); // in use, two before it, run in
    });

    it("disk-full-old-deploys does not fit where no link says which deploy is in use", async () => {
      const disk = await makeSmallDisk();
      const releases = join(disk.path, "releases");
      for (const name of ["1", "2", "3", "4", "5"]) {
        await writeOldFile(join(releases, name, "program"), 9, 1_000);
      }
      await assert.rejects(
        resolve("disk-full-old-deploys", {
          service: await service(),
          values: { releases: [releases] },
          disk,
        }),
        { code: "nothing_to_move" },
      );
    });

    it("disk-full-container-leftovers asks people, and may remove nothing but unnamed images", async function () {
      const allowed = (...argv: string[]) => {
        const permission = checkCommand({ argv }, shipped.commands);
        return permission.allowed || permission.code === "no_program";
      };
      const prune = ["docker", "image", "prune", "--force"];
      assert.ok(allowed(...prune, "--filter=until=24h"));
      assert.ok(!allowed(...prune, "--filter=until=24h", "--all"));
      assert.ok(!allowed(...prune));
      assert.ok(!allowed("docker", "volume", "prune", "--force"));
      assert.ok(!allowed("docker", "system", "prune", "--force"));
      const disk = await makeSmallDisk();
      const folder = join(disk.path, "docker");
      mkdirSync(folder);
      const runbook = shipped.runbooks.find((one) => one.runbook.endsWith("container-leftovers"))!;
      const resolved = resolveRunbook(runbook, {
        service: "svc",
        values: { containers_folder: folder },
        catalogue: shipped,
        isLocal: true,
        disk,
      });
      assert.deepEqual(resolved.exceeds.length, 1);
      if (existsSync("/var/run/docker.sock")) return this.skip(); // it would remove real images
      const { outcomes } = await perform(resolved.steps, { service: await service() });
      assert.ok(!outcomes[0]!.ok, "no engine answers here");
    });
  });

  describe("descriptor-limit", () => {
    /** Opens a file more with each connection, and answers `no` from the moment at which it can't. */
    const LEAK = `const fs = require("fs"), net = require("net");
      net.createServer((socket) => {
        try { for (let n = 0; n < 40; n++) fs.openSync("/dev/null"); socket.end("yes"); }
        catch { socket.end("no"); }
      }).listen(+process.argv[1], "127.0.0.1");`;
    const limitOf = (pid: number) =>
      Number(/^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))![1]);

    it("restarts a server and lets it open more, within its hard limit", async () => {
      const port = await freePort();
      const name = "leaky";
      // Node raises its own soft limit to the hard one; \`prlimit\` from within sets it back.
      const server = `require("child_process").execFileSync("prlimit",
        ["--pid=" + process.pid, "--nofile=64:1000"]); ${LEAK}`;
      const service = serviceOf({
        name,
        check: { tcp: `127.0.0.1:${port}` },
        restart: { process: { command: [NODE, "-e", server, String(port)] } },
      });
      const act = service.restart!;
      closing.push(() => stopManagedProcess(dataDir, name));
      await actOnce({ dataDir, effectId: newId(), service: name, act });
      const first = findManagedProcess(dataDir, name)!;
      await eventually(async () => limitOf(first.pid) === 64);
      const steps = await resolve("descriptor-limit", { service, values: { descriptors: 5_000 } });
      const { codes: [restarted] } = await perform(steps.slice(0, 1), { service });
      assert.equal(restarted, "started");
      const { pid } = findManagedProcess(dataDir, name)!;
      assert.notEqual(pid, first.pid);
      await eventually(async () => limitOf(pid) === 64);
      const { codes, outcomes, context } = await perform(steps.slice(1), { service });
      assert.deepEqual(codes, ["raised", "told"]);
      assert.deepEqual(outcomes[0]!.counts, { before: 64, hard: 1_000, now: 1_000 });
      assert.equal(limitOf(pid), 1_000);
      assert.match(context.messages[0]!, /If that happens again, it does not close what it opens/);
    });

    it("leaves a process alone that sealoop has not started", async () => {
      const service = serviceOf({ name: "elsewhere", restart: { command: ["true"] } });
      const [, raise] = await resolve("descriptor-limit", { service });
      const outcome = await performStep(raise!, newId(), createContext(dataDir, { service }));
      assert.deepEqual([outcome.state, outcome.code, outcome.ok], ["not_done", "not_ours", true]);
    });
  });

  describe("clock-wrong", () => {
    it("tells by how much the clock is off, and sets it by the operator's command alone", async () => {
      const service = serviceOf({ check: { command: ["true"] } });
      const facts = { clock_offset: 7_200 };
      await assert.rejects(resolve("clock-wrong", { service, facts }), {
        code: "parameter_clock_command",
      });
      const set = (clock_command: string[]) =>
        resolve("clock-wrong", { service, facts, values: { clock_command } });
      await assert.rejects(set(["date", "--set=now"]), { code: "not_allowed" });
      const steps = await set(["chronyc", "makestep"]);
      const { codes, context } = await perform(steps.slice(0, 1), { service });
      assert.deepEqual(codes, ["told"]);
      assert.deepEqual(context.messages, ["The clock of svc is off by 7200 seconds."]);
      assert.deepEqual(steps[1]!.command!.argv, ["chronyc", "makestep"]);
    });
  });

  describe("dependency-fails", () => {
    it("does nothing to the service, joins the other ticket, and looks again when that is up", async () => {
      const [port, own] = [await freePort(), await freePort()];
      const service = serviceOf({ name: "shop", check: { tcp: `127.0.0.1:${own}` } });
      const facts = { dependency: "stock", dependency_address: `127.0.0.1:${port}` };
      const steps = await resolve("dependency-fails", { service, facts });
      assert.deepEqual(steps.map(({ kind }) => kind), ["join", "wait", "wait"]);
      const running = perform(steps, { service });
      const listen = async (number: number) => {
        const server = createServer().listen(number, "127.0.0.1");
        closing.push(() => server.close());
        await once(server, "listening");
      };
      await listen(port);
      await listen(own);
      const { codes } = await running;
      assert.deepEqual(codes, ["joined_stock", "ok", "ok"]);
    });
  });
});

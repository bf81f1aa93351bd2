import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ROOT } from "../../../config.ts";
import { commandLine, identifyProcess, parentOf } from "../../../runtime/embedded/mod.ts";
import {
  actOnce,
  type ActRequest,
  findManagedProcess,
  findOutcome,
  stopManagedProcess,
} from "../../../integrations/host/mod.ts";
import { testFolder } from "../../_run.ts";

/** Finds the process that starts commands for another one. */
async function findLauncher(parent: number): Promise<number | undefined> {
  const all = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  return all.find((pid) =>
    parentOf(pid) === parent && commandLine(pid).some((word) => word.endsWith("_launcher.js"))
  );
}

describe("actOnce()", () => {
  let dataDir: string;
  before(async () => {
    dataDir = await testFolder();
  });
  const newId = () => randomBytes(12).toString("hex");
  const command = (...argv: string[]): ActRequest => ({
    dataDir,
    effectId: newId(),
    service: "cmd",
    act: { command: argv },
  });
  const counting = (file: string, then = "") =>
    command("sh", "-c", `echo once >> '${file}'; ${then}`);
  const lines = async (path: string) => (await readFile(path, "utf8")).trim().split("\n").length;

  it("runs a command and returns its exit code", async () => {
    assert.deepEqual(await actOnce(command("true")), { state: "done", code: "exit_0" });
    assert.deepEqual(await actOnce(command("sh", "-c", "exit 4")), {
      state: "done",
      code: "exit_4",
    });
    assert.deepEqual(await actOnce(command("no-such-program")), {
      state: "done",
      code: "exit_127",
    });
  });

  it("leaves no timer that keeps its process from ending", async () => {
    // In a process of its own, which a timer would keep for 120 s.
    const script = `
      import { actOnce } from "./integrations/host/mod.ts";
      console.log((await actOnce(JSON.parse(process.argv[1]))).code);`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        "--import",
        "tsx",
        "--input-type=module",
        "--eval",
        script,
        JSON.stringify(command("true")),
      ],
      { cwd: ROOT, timeout: 110_000 },
    );
    assert.equal(stdout.trim(), "exit_0");
  });

  it("runs a command with its arguments unchanged", async () => {
    const file = join(dataDir, "argv");
    await actOnce(command("sh", "-c", `printf %s "$1" > '${file}'`, "sh", `a 'b' "c" $HOME;`));
    assert.equal(await readFile(file, "utf8"), `a 'b' "c" $HOME;`);
  });

  it("acts once, however often and by how many callers the same request is given", async () => {
    const file = join(dataDir, "count");
    const request = counting(file, "sleep 0.1");
    const ends = await Promise.all(Array.from({ length: 8 }, () => actOnce(request)));
    ends.push(await actOnce(request));
    assert.deepEqual([...new Set(ends.map(({ code }) => code))], ["exit_0"]);
    assert.equal(await lines(file), 1);
  });

  it("goes on, and acts once, when its launcher is killed", async function () {
    if (!existsSync("/proc/self/environ")) return this.skip();
    let launcher: number | undefined;
    while (!launcher) { // the first command starts it and does not wait for it
      await actOnce(command("true"));
      launcher = await findLauncher(process.pid);
    }
    await actOnce(command("true"));
    const files = [join(dataDir, "lost-1"), join(dataDir, "lost-2")];
    const ends = [actOnce(counting(files[0]!, "sleep 0.2"))];
    while (!existsSync(files[0]!)) await sleep(5);
    ends.push(actOnce(counting(files[1]!)));
    process.kill(launcher, "SIGKILL");
    for (const end of ends) assert.deepEqual(await end, { state: "done", code: "exit_0" });
    for (const file of files) assert.equal(await lines(file), 1);
    assert.deepEqual(await actOnce(command("true")), { state: "done", code: "exit_0" });
  });

  it("reports that an act never began", async () => {
    assert.deepEqual(await findOutcome(command("true")), {
      state: "not_done",
      code: "not_started",
    });
  });

  it("is unknown when a command was killed together with its shell", async () => {
    const file = join(dataDir, "killed");
    const request = counting(file, "sleep 30");
    const ending = actOnce(request);
    while (!existsSync(file)) await sleep(5);
    const leader = Number(
      await readFile(join(dataDir, "effects", request.effectId, "started"), "utf8"),
    );
    process.kill(-leader, "SIGKILL");
    assert.deepEqual(await ending, { state: "unknown", code: "no_exit" });
    assert.deepEqual(await actOnce(request), { state: "unknown", code: "no_exit" });
    assert.equal(await lines(file), 1);
  });

  it("kills a command that takes too long with all that it started, and is unknown", async () => {
    const file = join(dataDir, "children");
    const request = {
      ...command("sh", "-c", `sleep 600 & echo $! > '${file}'; wait`),
      timeoutMs: 100,
    };
    // By this clock the limit is reached once the command has begun. Counting the limit twice would take it forever.
    const { now } = Date;
    let clockMs = now();
    Date.now = () => clockMs;
    try {
      const end = actOnce(request);
      let child = 0;
      while (!child) {
        await sleep(5);
        if (existsSync(file)) child = Number(await readFile(file, "utf8"));
      }
      clockMs += request.timeoutMs;
      assert.deepEqual(await end, { state: "unknown", code: "timeout" });
      while (identifyProcess(child)) await sleep(20);
    } finally {
      Date.now = now;
    }
  });

  it("is unknown when the mark was created and nothing more is known", async () => {
    const request: ActRequest = {
      ...command("true"),
      act: { process: { command: ["sleep", "30"] } },
    };
    const marks = join(dataDir, "effects", request.effectId);
    await mkdir(marks, { recursive: true });
    await writeFile(join(marks, "started"), "");
    assert.deepEqual(await actOnce(request), { state: "unknown", code: "no_start" });
  });

  const running = (service: string, ...argv: string[]): ActRequest => ({
    dataDir,
    effectId: newId(),
    service,
    act: { process: { command: argv } },
  });

  it("replaces the process of the service, and no other", async () => {
    const first = running("svc", "sleep", "30");
    assert.deepEqual(await actOnce(first), { state: "done", code: "started" });
    const before = findManagedProcess(dataDir, "svc")!;
    await actOnce(first);
    assert.deepEqual(findManagedProcess(dataDir, "svc"), before);
    await actOnce(running("svc", "sleep", "30"));
    const after = findManagedProcess(dataDir, "svc")!;
    assert.notEqual(after.pid, before.pid);
    assert.equal(identifyProcess(before.pid), undefined);
    await stopManagedProcess(dataDir, "svc");
    assert.equal(findManagedProcess(dataDir, "svc"), undefined);
    assert.equal(identifyProcess(after.pid), undefined);
  });

  it("leaves a process alone that has the process id of an earlier one", async () => {
    const stranger = running("stranger", "sleep", "30");
    await actOnce(stranger);
    const { pid } = findManagedProcess(dataDir, "stranger")!;
    const path = join(dataDir, "processes", "reused.json");
    await writeFile(path, JSON.stringify({ name: "reused", pid, start_time: "1", effect_id: "x" }));
    await actOnce(running("reused", "sleep", "30"));
    assert.ok(identifyProcess(pid));
    await Promise.all(["stranger", "reused"].map((name) => stopManagedProcess(dataDir, name)));
  });

  it("reports that a program ended at once", async () => {
    const request = running("gone", "no-such-program");
    await actOnce(request);
    while ((await findOutcome(request)).code === "started") await sleep(10);
    assert.deepEqual(await findOutcome(request), { state: "done", code: "ended_at_once" });
  });

  it("finds a launched process by its environment when its mark is lost", async function () {
    if (!existsSync("/proc/self/environ")) return this.skip();
    const request = running("lost", "sleep", "30");
    await actOnce(request);
    await rm(join(dataDir, "effects", request.effectId, "started"));
    assert.deepEqual(await findOutcome(request), { state: "done", code: "started" });
    await stopManagedProcess(dataDir, "lost");
  });
});

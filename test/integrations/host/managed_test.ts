import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import {
  actOnce,
  findManagedProcess,
  lastManagedProcess,
  listLostProcesses,
  readMarks,
  recordManagedProcess,
  stopManagedProcess,
  watchManagedProcesses,
} from "../../../integrations/host/mod.ts";
import { stopProcess } from "../../../runtime/embedded/mod.ts";
import { testFolder } from "../../_run.ts";
import { eventually } from "../../_time.ts";

describe("the processes that the platform runs for services", () => {
  let dataDir: string;
  const closing: (() => unknown)[] = [];

  beforeEach(async () => {
    dataDir = await testFolder();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** Starts the process of a service. */
  async function start(service: string, ...command: string[]): Promise<void> {
    const effectId = randomBytes(12).toString("hex");
    await actOnce({ dataDir, effectId, service, act: { process: { command } } });
    closing.push(() => stopManagedProcess(dataDir, service));
  }

  /** Watches the processes. @returns names of the services whose process has ended, each once it was told */
  function watched(): { readonly told: readonly string[]; next(): Promise<string> } {
    const told: string[] = [];
    let tell: (name: string) => void = () => {};
    const stop = watchManagedProcesses(dataDir, {
      onEnd({ name }) {
        told.push(name);
        tell(name);
      },
      onTrouble: assert.fail,
    });
    closing.push(stop);
    return { told, next: () => new Promise((resolve) => tell = resolve) };
  }

  it("are heard of at once when they end, those too that are started later", async () => {
    await start("first", "sleep", "600");
    const ends = watched();
    await start("second", "sleep", "600");
    for (const name of ["second", "first"]) {
      const next = ends.next();
      process.kill(findManagedProcess(dataDir, name)!.pid, "SIGKILL");
      assert.equal(await next, name);
    }
    assert.deepEqual(ends.told, ["second", "first"]);
  });

  it("are heard of when they have ended before", async () => {
    await start("gone", "sleep", "600");
    const record = lastManagedProcess(dataDir, "gone")!;
    await stopProcess(record, "SIGKILL", 0);
    const marks = join(dataDir, "effects", record.effect_id);
    await eventually(() => Promise.resolve(readMarks(marks).ended));
    assert.deepEqual(watched().told, ["gone"]);
    assert.deepEqual(listLostProcesses(dataDir), [], "it has ended by itself, which is a fault");
  });

  it("are not heard of when the platform itself stops or replaces them", async () => {
    await start("replaced", "sleep", "600");
    await start("stopped", "sleep", "600");
    const ends = watched();
    await start("replaced", "sleep", "600");
    await stopManagedProcess(dataDir, "stopped");
    await start("last", "sleep", "600");
    const next = ends.next();
    process.kill(findManagedProcess(dataDir, "last")!.pid, "SIGKILL");
    await next;
    assert.deepEqual(ends.told, ["last"]);
  });

  it("leave how they ended although the process that started them was killed", async () => {
    const program = join(dataDir, "starts.mjs");
    await writeFile(
      program,
      `import { actOnce } from ${JSON.stringify(join(ROOT, "integrations/host/mod.ts"))};
await actOnce({ dataDir: ${JSON.stringify(dataDir)}, effectId: "ab", service: "outlives",
  act: { process: { command: ["sleep", "600"] } } });
console.log("started");
setInterval(() => {}, 60_000);
`,
    );
    const starter = spawn(process.execPath, ["--import", "tsx", program], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(starter, "close").then(() => assert.fail("it could not start"));
    closed.catch(() => {});
    await Promise.race([once(starter.stdout, "data"), closed]);
    starter.kill("SIGKILL");
    await once(starter, "close");
    const ends = watched();
    const next = ends.next();
    process.kill(findManagedProcess(dataDir, "outlives")!.pid, "SIGTERM");
    assert.equal(await next, "outlives");
    assert.equal(readMarks(join(dataDir, "effects", "ab")).ended, "sigterm");
  });

  it("are lost with the machine or the platform's stop, and not by an act or by themselves", async () => {
    const gone = { pid: 1, start_time: "never" };
    const put = (name: string, more: object = {}) =>
      recordManagedProcess(dataDir, { name, effect_id: name, ...gone, ...more });
    put("with-platform", { stopped: "sealoop" });
    put("with-machine", { boot: "another" });
    put("by-an-act", { stopped: "act" });
    await start("runs", "sleep", "600");
    const lost = listLostProcesses(dataDir).map(({ name }) => name);
    assert.deepEqual(lost.toSorted(), ["with-machine", "with-platform"]);
  });
});

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  bootId,
  claimDataFolder,
  identifyProcess,
  isRunning,
  listManagedRecords,
  managedPath,
  type ManagedRecord,
  type ProcessId,
  writeManagedRecord,
} from "../../../runtime/embedded/mod.ts";
import { testFolder } from "../../_run.ts";

/** Identity of no process: the first one of the system, with another start time. */
const NO_PROCESS: ProcessId = { pid: 1, start_time: "never" };

describe("claimDataFolder()", () => {
  let dataDir: string;
  let sleeper: ChildProcess;
  let id: ProcessId;

  beforeEach(async () => {
    dataDir = await testFolder();
    sleeper = spawn("sleep", ["600"]);
    id = identifyProcess(sleeper.pid!)!;
  });

  afterEach(() => sleeper.kill("SIGKILL"));

  it("refuses a folder that another process has claimed, until it is released", async () => {
    const tree = await claimDataFolder(dataDir);
    await assert.rejects(claimDataFolder(dataDir), /Another sealoop \(pid \d+\) runs on the data/);
    await tree.release();
    await (await claimDataFolder(dataDir)).release();
    assert.deepEqual(readdirSync(dataDir), []);
  });

  it("lets one of several claim a folder that a killed process had claimed", async () => {
    writeFileSync(join(dataDir, "run.lock"), JSON.stringify({ ...NO_PROCESS, boot: bootId() }));
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => claimDataFolder(dataDir)));
    const claimed = all.filter((result) => result.status === "fulfilled");
    assert.equal(claimed.length, 1);
    await claimed[0]!.value.release();
  });

  it("claims a folder with an empty lock", async () => {
    writeFileSync(join(dataDir, "run.lock"), "");
    await (await claimDataFolder(dataDir)).release();
  });

  it("stops the processes that a killed one left running", async () => {
    leave([{ ...id, name: "sleep", signal: "SIGTERM", rank: 1 }]);
    const tree = await claimDataFolder(dataDir);
    assert.equal(isRunning(id), false);
    await tree.release();
  });

  it("leaves a process alone that has the number of a left one, but another start time", async () => {
    leave([{ pid: id.pid, start_time: "1", name: "sleep", signal: "SIGTERM", rank: 1 }]);
    await (await claimDataFolder(dataDir)).release();
    assert.equal(isRunning(id), true);
  });

  it("leaves all processes alone when the list is from another boot", async () => {
    leave([{ ...id, name: "sleep", signal: "SIGTERM", rank: 1 }], "another boot");
    await (await claimDataFolder(dataDir)).release();
    assert.equal(isRunning(id), true);
  });

  it("stops the processes of services that are to be stopped with it, says so, and keeps the others", async () => {
    const other = spawn("sleep", ["600"]);
    const otherId = identifyProcess(other.pid!)!;
    try {
      record({ ...id, name: "shop", effect_id: "1", on_stop: "stop" });
      record({ ...otherId, name: "billing", effect_id: "2" });
      writeFileSync(join(dataDir, "processes", "half.json"), "{");
      await (await claimDataFolder(dataDir)).release();
      assert.equal(isRunning(id), false);
      assert.equal(isRunning(otherId), true);
      const stopped = listManagedRecords(dataDir).map(({ name, stopped }) => [name, stopped]);
      assert.deepEqual(stopped.toSorted(), [["billing", undefined], ["shop", "sealoop"]]);
    } finally {
      other.kill("SIGKILL");
    }
  });

  it("stops the added processes, and kills those that are added later", async () => {
    const tree = await claimDataFolder(dataDir);
    tree.add({ ...id, name: "sleep", signal: "SIGTERM", rank: 2 });
    await tree.stop();
    assert.equal(isRunning(id), false);
    const late = spawn("sleep", ["600"]);
    const lateId = identifyProcess(late.pid!)!;
    tree.add({ ...lateId, name: "late", signal: "SIGTERM", rank: 1 });
    while (isRunning(lateId)) await sleep(10);
    const released = tree.release();
    tree.remove(lateId); // its end is noticed last
    await released;
    assert.equal(existsSync(join(dataDir, "run.json")), false);
  });

  it("kills a process that does not stop when it is asked to", async () => {
    const deaf = spawn("sh", ["-c", "trap '' TERM; echo deaf; while :; do sleep 1; done"]);
    await new Promise((resolve) => deaf.stdout.once("data", resolve));
    const tree = await claimDataFolder(dataDir);
    tree.add({ ...identifyProcess(deaf.pid!)!, name: "deaf", signal: "SIGTERM", rank: 1 });
    const { now } = Date;
    const start = now();
    try {
      Date.now = () => start; // its 8.5 s never end
      const stopped = tree.stop();
      setTimeout(tree.forceStop, 300);
      await stopped;
    } finally {
      Date.now = now;
    }
    assert.equal(deaf.signalCode ?? "SIGKILL", "SIGKILL");
    await tree.release();
  });

  it("reports why a folder can't be written to", async function () {
    if (process.getuid?.() === 0) return this.skip(); // root may write anywhere
    chmodSync(dataDir, 0o500);
    await assert.rejects(claimDataFolder(dataDir), /permission is missing.*set SEALOOP_DATA/);
  });

  function record(managed: ManagedRecord): void {
    writeManagedRecord(managedPath(dataDir, managed.name), managed);
  }

  function leave(processes: unknown[], boot = bootId()): void {
    writeFileSync(
      join(dataDir, "run.json"),
      JSON.stringify({ boot, supervisor: NO_PROCESS, processes }),
    );
  }
});

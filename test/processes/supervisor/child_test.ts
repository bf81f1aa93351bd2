import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import {
  claimDataFolder,
  isRunning,
  readJson,
  type Tree,
  type TreeProcess,
} from "../../../runtime/embedded/mod.ts";
import { type Child, openChild, PROCESSES } from "../../../processes/supervisor/mod.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";
import { eventually } from "../../_time.ts";

describe("openChild()", () => {
  let probe: string;
  let dataDir: string;
  let tree: Tree;
  let printed: string[];
  const children: Child[] = [];

  before(async () => {
    probe = await program("test/processes/_probe.ts");
  });

  beforeEach(async () => {
    dataDir = await testFolder();
    tree = await claimDataFolder(dataDir);
    printed = [];
  });

  afterEach(async () => {
    for (const child of children.splice(0)) child.stopRestarting();
    await tree.stop();
    await tree.release();
  });

  it("starts a process again that was killed, and says so", async () => {
    const child = open({});
    assert.equal(await child.start({ PROBE: "once" }), "http://probe/once");
    const [first] = watched();
    process.kill(first!.pid, "SIGKILL");
    await untilStartedAgain();
    const [second] = watched();
    assert.notEqual(second!.pid, first!.pid);
    assert.match(
      printed[0]!,
      /^Probe ended \(killed by SIGKILL\); restarting it in 0\.5 s · tail \S+\/logs\/\S+\.log$/,
    );
  });

  it("leaves a retired process ended", async () => {
    const [retired, other] = [open({}), open({})];
    await Promise.all([retired.start({}), other.start({})]);
    retired.stopRestarting();
    for (const { pid } of watched()) process.kill(pid, "SIGKILL");
    await untilStartedAgain();
    assert.equal(watched().length, 1);
    assert.equal(printed.length, 2, "only one has ended and was started again");
  });

  it("says why a process could not start", async () => {
    await assert.rejects(open({ PROBE: "fail" }).start({}), {
      name: "EmbeddedError",
      message: "Probe could not start: The probe was told to fail",
    });
  });

  it("gives a process no other environment than that it was given", async () => {
    process.env.SEALOOP_STRAY = "would be refused as unknown";
    try {
      await open({}).start({});
    } finally {
      delete process.env.SEALOOP_STRAY;
    }
    assert.ok(isRunning(watched()[0]!));
  });

  it("is given for each process a command of its own in package.json", async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    for (const { name } of PROCESSES) {
      assert.equal(scripts[name], `node start.mjs processes/${name}.ts`);
    }
  });

  function open(env: Record<string, string>) {
    const child = openChild({
      name: "probe",
      title: "Probe",
      program: probe,
      env: { PATH: process.env.PATH!, ...env },
      dataDir,
      tree,
      print: (text) => printed.push(text),
    });
    children.push(child);
    return child;
  }

  const untilStartedAgain = () =>
    eventually(async () => printed.some((line) => line.startsWith("Probe was started again")));

  function watched(): TreeProcess[] {
    return (readJson(`${dataDir}/run.json`) as { processes: TreeProcess[] }).processes;
  }
});

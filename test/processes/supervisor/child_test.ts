import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../../config.ts";
import { claimDataFolder, isRunning, readJson, type Tree, type TreeProcess } from "../../../embedded/mod.ts";
import { type Child, ENTRIES, openChild } from "../../../processes/mod.ts";
import { testFolder } from "../../_servers.ts";

const PROBE = fileURLToPath(new URL("_probe.ts", import.meta.url));

describe("openChild()", () => {
  let dataDir: string;
  let tree: Tree;
  let said: string[];
  const children: Child[] = [];

  beforeEach(async () => {
    dataDir = await testFolder();
    tree = await claimDataFolder(dataDir);
    said = [];
  });

  afterEach(async () => {
    for (const child of children.splice(0)) child.retire();
    await tree.stop();
    await tree.release();
  });

  it("starts a process again that was killed, and says so", async () => {
    const child = open({});
    assert.equal(await child.go({ PROBE: "once" }), "http://probe/once");
    const [first] = watched();
    process.kill(first!.pid, "SIGKILL");
    await until(() => said.includes("Probe is back"));
    const [second] = watched();
    assert.notEqual(second!.pid, first!.pid);
    assert.match(said[0]!, /^Probe ended \(killed by SIGKILL\); starting it again in 0\.5 s$/);
  });

  it("leaves a retired process ended", async () => {
    const child = open({});
    await child.go({});
    child.retire();
    await tree.stop();
    await sleep(700);
    assert.deepEqual(watched(), []);
    assert.deepEqual(said, []);
  });

  it("says why a process could not start", async () => {
    await assert.rejects(open({ PROBE: "fail" }).go({}), {
      name: "EmbeddedError",
      message: "Probe could not start: The probe was told to fail",
    });
  });

  it("gives a process no other environment than that it was given", async () => {
    process.env.SEALOOP_STRAY = "would be refused as unknown";
    try {
      await open({}).go({});
    } finally {
      delete process.env.SEALOOP_STRAY;
    }
    assert.ok(isRunning(watched()[0]!));
  });

  it("gives it the options of Node that it is to have", async () => {
    const child = open({ PROBE: "options" }, ["--use-largepages=silent"]);
    assert.equal(await child.go({ PROBE: "options" }), "http://probe/--use-largepages=silent");
  });

  it("has the same options of Node where the process is started by its own command", async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    for (const { name, node } of ENTRIES) {
      assert.equal(scripts[name], ["node", ...node, "start.mjs", name].join(" "));
    }
  });

  function open(env: Record<string, string>, node?: readonly string[]) {
    const child = openChild({
      name: "probe",
      title: "Probe",
      entry: PROBE,
      env: { PATH: process.env.PATH!, ...env },
      node,
      dataDir,
      tree,
      say: (text) => said.push(text),
    });
    children.push(child);
    return child;
  }

  function watched(): TreeProcess[] {
    return (readJson(`${dataDir}/run.json`) as { processes: TreeProcess[] }).processes;
  }
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20);
}

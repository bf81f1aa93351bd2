import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { testFolder } from "../_run.ts";
import { AgentScene } from "./_agent.ts";
import { AGENT, enroll, findTalker, PYTHON, readJson, runAgent } from "./_device.ts";
import { pins } from "./_ledger.ts";

describe("the agent, by what it may do,", function () {
  const scene = new AgentScene();

  it("talks as a user without rights, who can neither read the runner's files nor gain any", async function () {
    // A Python that others may run, unlike one in a home folder.
    const python = "/usr/bin/python3";
    if (process.getuid?.() !== 0 || process.platform !== "linux" || !existsSync(python)) {
      return this.skip();
    }
    const device = await enroll(scene.gateway, 0, ["--talker-user", "nobody"]);
    const folder = dirname(device.state);
    const agent = join(folder, "sealoop_agent.py");
    copyFileSync(AGENT, agent);
    chmodSync(folder, 0o755);
    chmodSync(agent, 0o755);
    const child = scene.run(device, [], [python, agent]);
    await scene.until(() => scene.gateway.heartbeats.length > 0, "beats");
    const talker = findTalker(child);
    const status = readFileSync(`/proc/${talker}/status`, "utf8");
    assert.doesNotMatch(status, /^Uid:\t0/m);
    assert.match(status, /^NoNewPrivs:\t1/m);
    assert.match(status, /^CapEff:\t0{16}/m);
    assert.equal(statSync(join(device.state, "runner")).mode & 0o777, 0o700);
    const argv = ["/bin/sh", "-c", "id -un"];
    const id = await scene.issue(device, 1, { argv, user: "nobody" });
    await scene.until(() => scene.gateway.outputs.has(id), "the output came");
    assert.equal(scene.gateway.outputs.get(id)!.output.toString(), "nobody\n");
  });

  it("shows the enrolment's code to nobody: it is in a file that others can't read, and in no argument", async () => {
    const folder = await testFolder();
    writeFileSync(join(folder, "pins.json"), JSON.stringify(pins()));
    writeFileSync(join(folder, "code"), scene.gateway.mintCode(), { mode: 0o644 });
    const { code, output } = await runAgent(
      ...["enroll", "--user", "--server", scene.gateway.address, "--state", join(folder, "state")],
      ...["--code-file", join(folder, "code"), "--pins", join(folder, "pins.json")],
    );
    assert.deepEqual([code, /can be read by others/.test(output)], [1, true]);
  });

  it("does not enrol where the platform names other keys than the install script pinned", async () => {
    const folder = await testFolder();
    const { log_key, ...rest } = pins();
    scene.gateway.trust = { ...rest, log_key, quorum: 1 };
    writeFileSync(join(folder, "pins.json"), JSON.stringify(pins()));
    writeFileSync(join(folder, "code"), scene.gateway.mintCode(), { mode: 0o600 });
    const { code, output } = await runAgent(
      ...["enroll", "--user", "--server", scene.gateway.address, "--state", join(folder, "state")],
      ...["--code-file", join(folder, "code"), "--pins", join(folder, "pins.json")],
    );
    assert.deepEqual([code, /names other keys/.test(output)], [1, true]);
    assert.ok(!existsSync(join(folder, "state", "runner", "identity.json")));
  });

  it("talks to other machines over TLS alone", async () => {
    const device = await enroll(scene.gateway);
    const path = join(device.state, "talker", "server.json");
    writeFileSync(path, JSON.stringify({ ...readJson(path), url: "http://example.com" }));
    scene.run(device);
    await scene.until(() => /is no address with https/.test(scene.errors), "it refuses");
  });

  it("removes all that it kept when it is uninstalled, and only when that is meant", async () => {
    const device = await enroll(scene.gateway);
    assert.equal((await runAgent("uninstall", "--user", "--state", device.state)).code, 1);
    assert.ok(existsSync(device.state));
    const { code } = await runAgent("uninstall", "--yes", "--user", "--state", device.state);
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(dirname(device.state)).sort(), ["code", "pins.json"]);
  });

  it("says on Windows that it can't run there", async () => {
    const program = `import runpy, sys; sys.platform = "win32"; runpy.run_path(${
      JSON.stringify(AGENT)
    }, run_name="__main__")`;
    const { code, text } = await new Promise<{ code: unknown; text: string }>((resolve) => {
      execFile(
        PYTHON,
        ["-c", program],
        (error, out, err) => resolve({ code: error?.code, text: out + err }),
      );
    });
    assert.deepEqual([code, text.trim()], [
      1,
      "sealoop-agent: Cannot run on win32: the agent runs on Linux and macOS only",
    ]);
  });
});

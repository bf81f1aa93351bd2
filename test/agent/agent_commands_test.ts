import assert from "node:assert/strict";
import { hash, randomInt } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentScene, type Fields } from "./_agent.ts";
import { AGENT, countRuns, enroll, findTalker, PYTHON } from "./_device.ts";

describe("the agent, with commands to run,", () => {
  const scene = new AgentScene();

  it("waits while the platform is away, and runs once when it is back in time", async () => {
    const device = await enroll(scene.gateway);
    scene.run(device);
    await scene.until(() => scene.gateway.heartbeats.length > 0, "beats");
    scene.gateway.silent = true;
    const id = await scene.issue(device, 1);
    await sleep(1000);
    assert.equal(countRuns(device), 0);
    scene.gateway.silent = false;
    await scene.until(() => scene.endOf(id) !== undefined, "it ended");
    assert.equal(countRuns(device), 1);
  });

  it("runs more commands than it runs at once, each in its turn", async () => {
    const device = await enroll(scene.gateway);
    const argv = ["/bin/sh", "-c", 'sleep 0.7; echo ran >> "$0"', device.marker];
    const ids: string[] = [];
    for (let n = 1; n <= 9; n++) ids.push(await scene.issue(device, n, { argv }));
    scene.run(device);
    await scene.until(() => ids.every((id) => scene.endOf(id)), "all ended");
    assert.deepEqual(ids.map((id) => scene.endOf(id)!.status), ids.map(() => "done"));
    assert.equal(countRuns(device), 9);
  });

  it("brings every command to its end once, and its output, killed at random together with its talker and the platform", async () => {
    const device = await enroll(scene.gateway);
    const COMMANDS = 8;
    const script = 'echo "$SEALOOP_COMMAND_ID" >> "$0"; sleep 0.1; echo output';
    const ids: string[] = [];
    for (let n = 1; n <= COMMANDS; n++) {
      ids.push(await scene.issue(device, n, { argv: ["/bin/sh", "-c", script, device.marker] }));
    }
    let agent = scene.run(device);
    for (let n = 0; n < 12; n++) {
      await sleep(randomInt(100, 900));
      assert.equal(agent.exitCode, null, scene.errors);
      const kind = process.platform === "linux" ? randomInt(3) : 0;
      if (kind === 0) {
        await scene.end(agent, "SIGKILL");
        agent = scene.run(device);
      } else if (kind === 1) {
        const talker = findTalker(agent);
        if (talker !== undefined) process.kill(talker, "SIGKILL");
      } else scene.gateway.silent = !scene.gateway.silent;
    }
    scene.gateway.silent = false;
    const isOver = (id: string) => {
      const status = scene.endOf(id)?.status;
      return status === "unknown" || status === "done" && scene.gateway.outputs.has(id);
    };
    await scene.until(() => ids.every(isOver), "every command came to its end");
    const ran = readFileSync(device.marker, "utf8").trim().split("\n");
    assert.equal(new Set(ran).size, ran.length, "a command ran twice");
    for (const id of ids) {
      const ends = scene.gateway.statements.filter(({ command_id, phase }) =>
        command_id === id && phase === "ended"
      );
      assert.equal(ends.length, 1);
    }
  });

  it("goes on behind a statement that the platform does not take, and has it sealed where it is taken later", async () => {
    const device = await enroll(scene.gateway);
    const first = await scene.issue(device, 1);
    scene.gateway.refuses = (path, { command_id }) =>
      path.endsWith("/seal") && command_id === first ? 400 : undefined;
    const agent = scene.run(device);
    const behind = await scene.issue(device, 2);
    await scene.until(() => scene.endOf(behind)?.status === "done", "the command behind it ended");
    assert.equal(countRuns(device), 1);
    assert.ok(!scene.gateway.statements.some(({ command_id }) => command_id === first));
    scene.gateway.refuses = () => undefined;
    await scene.end(agent);
    scene.run(device);
    await scene.until(() => scene.endOf(first)?.status === "done", "the first command ended");
    assert.equal(countRuns(device), 2);
  });

  it("goes on where the platform takes no heartbeat with an output as long as one", async () => {
    const device = await enroll(scene.gateway);
    scene.gateway.refuses = (path, { acks = [] }) =>
      path.endsWith("/heartbeat") && (acks as Fields[]).some(({ output }) => output)
        ? 413
        : undefined;
    scene.run(device);
    const first = await scene.issue(device, 1);
    await scene.until(() => scene.endOf(first) !== undefined, "it ended");
    const isOver = () => scene.errors.includes("does not take that");
    await scene.until(isOver, "it gives the output up");
    const second = await scene.issue(device, 2);
    await scene.until(() => scene.endOf(second) !== undefined, "the next one ended");
  });

  it("is upgraded by a command like any other, and goes on as the new program", async () => {
    const device = await enroll(scene.gateway);
    const agent = join(dirname(device.state), "sealoop_agent.py");
    copyFileSync(AGENT, agent);
    scene.gateway.agent = `${readFileSync(AGENT, "utf8")}# the next version\n`;
    const next = hash("sha256", scene.gateway.agent);
    scene.run(device, ["--user"], [PYTHON, agent]);
    const other = await scene.issue(device, 1, {
      argv: ["sealoop-agent", "upgrade", "--sha256", "ab".repeat(32)],
    });
    await scene.until(() => scene.endOf(other) !== undefined, "it ended");
    assert.equal(scene.endOf(other)!.status, "failed");
    const id = await scene.issue(device, 2, {
      argv: ["sealoop-agent", "upgrade", "--sha256", next],
    });
    await scene.until(() => scene.endOf(id) !== undefined, "it ended");
    assert.equal(scene.endOf(id)!.status, "done");
    const isNew = () =>
      (scene.gateway.inventories.get(device.id)?.agent as Fields)?.sha256 === next;
    await scene.until(isNew, "the new program beats");
    await scene.issue(device, 3);
    await scene.until(() => countRuns(device) === 1, "it runs commands");
  });
});

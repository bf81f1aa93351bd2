import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { cpSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { testFolder } from "../_run.ts";
import { sized } from "../_size.ts";
import { countRuns, readJournal, runAgent, TestRunner } from "./_device.ts";
import { type Fields, RunnerScene } from "./_runner.ts";

const KILL_ROUNDS = sized(200);

describe("the runner, killed or put back,", () => {
  const scene = new RunnerScene();

  it("is never twice and always decided, killed at random moments", async () => {
    const wait = 'echo ran >> "$0"; sleep 0.05; echo "$SEALOOP_COMMAND_ID" >> "$0.ids"';
    const results: unknown[] = [];
    for (let round = 1; round <= KILL_ROUNDS; round++) {
      const bundle = await scene.issue(round, {
        argv: ["/bin/sh", "-c", wait, scene.device.marker],
      });
      let isDone = false;
      for (let attempt = 0; !isDone; attempt++) {
        scene.start();
        try {
          await scene.runner.ask({ type: "hello" }, "state");
          if (attempt < 2) {
            setTimeout((one: TestRunner) => one.kill(), randomInt(150), scene.runner);
          }
          const { result } = await scene.deliver(bundle);
          assert.ok(["begun", "known", "busy"].includes(String(result)), String(result));
          while (!isDone) {
            const ended = await scene.sealNext();
            isDone = ended.phase === "ended" && ended.command_id === bundle.command.command_id;
            if (isDone) results.push(ended.status);
          }
        } catch (error) {
          if (!String(error).includes("The runner ended: ")) throw error;
          isDone = scene.gateway.statements.some(({ command_id, phase }) =>
            command_id === bundle.command.command_id && phase === "ended"
          );
          if (isDone) results.push("ended as it was killed");
        }
        await scene.runner.kill();
      }
    }
    await sleep(300);
    const ids = readFileSync(`${scene.device.marker}.ids`, "utf8").trim().split("\n");
    assert.equal(new Set(ids).size, ids.length, "a command ran twice");
    assert.ok(countRuns(scene.device) <= KILL_ROUNDS);
    const lines = readJournal(scene.device);
    for (const { command_id, statement } of lines) {
      if ((statement as Fields | undefined)?.status !== "unknown") continue;
      assert.ok(lines.some((line) => line.kind === "started" && line.command_id === command_id));
    }
    assert.equal(results.length, KILL_ROUNDS);
  });

  it("leaves a command running that it was killed beside, and tells its end", async () => {
    scene.start();
    const script = 'echo ran >> "$0"; sleep 1; exit 7';
    await scene.deliver(
      await scene.issue(1, { argv: ["/bin/sh", "-c", script, scene.device.marker] }),
    );
    await scene.sealNext();
    while (countRuns(scene.device) === 0) await sleep(20);
    await scene.runner.kill();
    scene.start();
    scene.runner.send({ type: "hello" });
    const { status, exit_code } = await scene.sealUntilEnded();
    assert.deepEqual([status, exit_code, countRuns(scene.device)], ["failed", 7, 1]);
  });

  it("says unknown where the supervisor is gone without a result, and does not run the command again", async () => {
    scene.start();
    const script = 'echo $PPID $$ >> "$0"; exec sleep 30';
    const bundle = await scene.issue(1, { argv: ["/bin/sh", "-c", script, scene.device.marker] });
    await scene.deliver(bundle);
    await scene.sealNext();
    while (countRuns(scene.device) === 0) await sleep(20);
    const [supervisor, command] = readFileSync(scene.device.marker, "utf8").split(" ").map(Number);
    process.kill(supervisor!, "SIGKILL");
    assert.equal((await scene.sealUntilEnded()).status, "unknown");
    process.kill(command!, "SIGKILL");
    assert.equal((await scene.deliver(bundle)).result, "known");
    assert.equal(countRuns(scene.device), 1);
  });

  it("finds that only its journal was put back to an earlier state, and runs nothing more", async () => {
    scene.start();
    await scene.deliver(await scene.issue());
    await scene.sealUntilEnded();
    await scene.sealNext();
    await scene.runner.kill();
    const path = join(scene.device.state, "runner", "journal.ndjson");
    const [first] = readFileSync(path, "utf8").split("\n");
    truncateSync(path, first!.length + 1);
    scene.start();
    assert.match(String((await scene.runner.ask({ type: "hello" }, "state")).blocked), /journal/);
    assert.equal((await scene.deliver(await scene.issue(2))).code, "journal_rolled_back");
    assert.equal(countRuns(scene.device), 1);
  });

  it("finds by the ledger that its whole folder was put back, does not run again, and goes on when a person says so", async () => {
    const copy = join(await testFolder(), "copy");
    cpSync(scene.device.state, copy, { recursive: true });
    scene.start();
    const bundle = await scene.issue();
    await scene.deliver(bundle);
    await scene.sealUntilEnded();
    await scene.sealNext();
    await scene.runner.kill();
    rmSync(scene.device.state, { recursive: true });
    cpSync(copy, scene.device.state, { recursive: true });
    scene.start();
    await scene.deliver(bundle);
    const body = (await scene.runner.take("statement")).body as Fields;
    assert.throws(() => scene.gateway.seal(scene.device.id, body), /journal_rolled_back/);
    scene.runner.send({ type: "conflict", sequence: body.sequence });
    assert.equal((await scene.deliver(await scene.issue(2))).code, "journal_rolled_back");
    assert.equal(countRuns(scene.device), 1);
    await scene.runner.kill();
    const released = await runAgent("release", "--user", "--state", scene.device.state, "20", "1");
    assert.equal(released.code, 0, released.output);
    scene.start();
    assert.equal((await scene.deliver(bundle)).code, "sequence_used");
    await scene.deliver(await scene.issue(3));
    assert.equal((await scene.sealUntilEnded()).code, "sequence_used");
    assert.equal((await scene.sealUntilEnded()).status, "done");
    assert.equal(countRuns(scene.device), 2);
  });
});

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findingOf, type Service } from "../../integrations/mod.ts";
import { putServices } from "../../store/mod.ts";
import { ITSM_LOOP, type itsmLoop } from "../../workflows/mod.ts";
import { freePort } from "../_servers.ts";
import { oldFile } from "../integrations/runbooks/_runbook.ts";
import { type KillPoint, type LoopBench, loopBench, type WorkerProcess } from "./_loop_bench.ts";
import { aStep, counter, writeRunbooks } from "./_runbooks.ts";
import { eventually, storyOf } from "./_story.ts";

/** Longer than it takes to miss a worker that has died. */
const SLOW_SECONDS = 7;

describe("a worker that is killed with -9 in the middle of a runbook", function () {
  this.timeout(150_000);
  let bench: LoopBench;
  before(async () => {
    bench = await loopBench();
  });
  after(() => bench?.close());

  /** A runbook of three steps for one service at which nobody listens: moves files, runs a program, moves others. */
  async function scene(name: string, seconds: number, verify?: object) {
    const folder = join(bench.dataDir, "scenes", name);
    const program = await counter(join(folder, "bin"), "program", seconds);
    const [first, second] = [join(folder, "first"), join(folder, "second")];
    for (const at of [first, second]) {
      for (const n of [1, 2, 3]) await oldFile(join(at, `${n}.done`), 3);
    }
    const clean = (at: string) => ({ folders: [at], match: ["*.done"], older_than: "1d" });
    await writeRunbooks(join(bench.dataDir, "runbooks"), {
      [name]: {
        match: { services: [name] },
        steps: [
          aStep("move-first", { clean: clean(first), undo: { put_back: true } }),
          aStep("run", { command: { argv: [program.path] }, bounds: { within: "30s" } }),
          aStep("move-second", {
            ...{ clean: clean(second), undo: { put_back: true } },
            ...(verify ? { verify: { look: verify, within: "1s" } } : {}),
          }),
        ],
      },
    }, [program.path]);
    const service: Service = {
      ...{ name, type: "web", host: "localhost", owner: null, origin: "file", watched: false },
      ...{ dependsOn: [], restart: null },
      check: { command: ["test", "-e", join(folder, "bin", "program.log")] },
    };
    await putServices(bench.store.knex, [service]);
    return { service, program, first, second };
  }

  async function start({ service }: { service: Service }, taskQueue: string) {
    const finding = findingOf(service, "exit_1");
    return await bench.client.workflow.start<typeof itsmLoop>(ITSM_LOOP, {
      ...{ taskQueue, args: [finding] },
      workflowId: `loop-${finding.fingerprint}`,
    });
  }

  async function takeOver(doomed: WorkerProcess, taskQueue: string): Promise<void> {
    const heir = await bench.worker(taskQueue);
    assert.equal(await doomed.ended, "SIGKILL");
    heir.begin();
  }

  it("while a slow step runs: each step is done once, and the receipt tells of all three", async () => {
    const made = await scene("slowly", SLOW_SECONDS);
    const doomed = await bench.worker("slowly");
    doomed.begin();
    const run = await start(made, "slowly");
    const marks = join(bench.dataDir, "effects");
    await eventually(async () => {
      for (const id of existsSync(marks) ? readdirSync(marks) : []) {
        if (await readFile(join(marks, id, "started"), "utf8").catch(() => "")) return true;
      }
      return undefined;
    });
    doomed.kill();
    await takeOver(doomed, "slowly");
    const result = await run.result();
    assert.equal(result.outcome, "sealed");
    assert.equal(await made.program.times(), 1);
    const { receipts, effects } = await storyOf(bench.store, result.ticket_id!);
    assert.deepEqual(effects.map(({ step, state }) => [step, state]).reverse(), [
      ...[["move-first", "done"], ["run", "done"], ["move-second", "done"]],
    ]);
    assert.deepEqual(receipts.map(({ category }) => category), [
      ...["ticket_opened", "repair_intended", "repair_intended", "repair_intended", "self_heal"],
    ]);
    const { steps } = receipts.at(-1)!.details as { steps: { code: string }[] };
    assert.deepEqual(steps.map(({ code }) => code), ["moved_beside", "exit_0", "moved_beside"]);
  });

  const POINTS: readonly (KillPoint & { name: string })[] = [
    { name: "after-remediate", when: "after", activity: "remediate" },
    { name: "after-undo", when: "after", activity: "undo" },
  ];
  for (const { name, ...point } of POINTS) {
    it(`after the work of ${point.activity}, before the report: nothing is done or undone twice`, async () => {
      // The last step is never seen to have worked, so that what it did is undone.
      const vain = { tcp: `127.0.0.1:${await freePort()}` };
      const made = await scene(name, 0, vain);
      const never: Service = { ...made.service, check: vain };
      await putServices(bench.store.knex, [never]);
      const doomed = await bench.worker(name);
      doomed.begin();
      doomed.dieAt(point);
      const finding = findingOf(never, "refused");
      const run = await bench.client.workflow.start<typeof itsmLoop>(ITSM_LOOP, {
        ...{ taskQueue: name, args: [finding], workflowId: `loop-${finding.fingerprint}` },
      });
      await takeOver(doomed, name);
      const result = await run.result();
      assert.equal(result.outcome, "escalated");
      assert.equal(await made.program.times(), 3, "once a round");
      for (const folder of [made.first, made.second]) {
        assert.deepEqual(readdirSync(folder), ["1.done", "2.done", "3.done"]);
      }
      const { receipts, effects } = await storyOf(bench.store, result.ticket_id!);
      const undone = effects.filter(({ undoes }) => undoes !== null);
      assert.deepEqual([effects.length, undone.length], [15, 6]);
      assert.ok(effects.every(({ state }) => state === "done"));
      const counted = (category: string) =>
        receipts.filter((receipt) => receipt.category === category).length;
      assert.deepEqual([counted("repair_intended"), counted("undo_intended")], [9, 6]);
    });
  }
});

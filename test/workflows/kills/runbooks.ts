/** Loops in the middle of a runbook of several steps. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createServiceFinding } from "../../../judgement/detection/mod.ts";
import { WORKFLOW } from "../../../contract/domain/mod.ts";
import type { Service } from "../../../integrations/host/mod.ts";
import { putServices } from "../../../store/cmdb/mod.ts";
import { freePort } from "../../_run.ts";
import { eventually } from "../../_time.ts";
import { writeOldFile } from "../../judgement/runbooks/_runbook.ts";
import type { KillRow, KillSubject, Stage } from "../_kill_stage.ts";
import type { LoopBench } from "../_loop_bench.ts";
import { countingProgram, runbookStep, writeRunbooks } from "../_runbooks.ts";
import { listEffectsOn, readLoopEnd } from "../_ticket_record.ts";

/** Longer than the heartbeat timeout. */
const SLOW_MS = 7_000;

/** A service that fails, and what its runbook acts on. */
interface Scene {
  readonly service: Service;
  readonly program: { times(): Promise<number> };
  readonly folders: readonly string[];
  /** Lets the slow program go on. */
  release(): Promise<void>;
}

const scenes = new Map<string, Scene>();

/** Kills of loops with runbooks. */
export const runbookKills: KillSubject = {
  async prepare(bench) {
    // The last step is never verified there, so that the others are undone.
    const vain = { tcp: `127.0.0.1:${await freePort()}` };
    const programs: string[] = [];
    scenes.set("slowly", await makeScene(bench, "slowly", programs));
    for (const activity of ["remediate", "undo"]) {
      scenes.set(activity, await makeScene(bench, `after-${activity}`, programs, vain));
    }
  },
  rows: [
    {
      name:
        "a runbook, while a slow step runs: each step is done once, and the receipt has all three",
      async run(stage) {
        const { service, program, release } = scenes.get("slowly")!;
        const { run } = await startLoop(stage, service);
        await stage.replaced(runs(stage.bench, service.name));
        setTimeout(release, SLOW_MS);

        const { result, effects, receipts } = await readLoopEnd(stage.bench.store, run);
        assert.equal(result.outcome, "sealed");
        assert.equal(await program.times(), 1);
        assert.deepEqual(effects.map(({ step, state }) => [step, state]).reverse(), [
          ["move-first", "done"],
          ["run", "done"],
          ["move-second", "done"],
        ]);
        assert.equal(
          receipts.filter(({ category }) => category === "repair_intended").length,
          3,
        );
        const { steps } = receipts.at(-1)!.details as { steps: { code: string }[] };
        assert.deepEqual(steps.map(({ code }) => code), ["moved_beside", "exit_0", "moved_beside"]);
      },
    },
    killedAfter("remediate"),
    killedAfter("undo"),
  ],
};

function killedAfter(activity: string): KillRow {
  return {
    name:
      `a runbook, after the work of ${activity}, before the report: nothing is done or undone twice`,
    async run(stage) {
      const { service, program, folders } = scenes.get(activity)!;
      const { run, reached } = await startLoop(stage, service, activity);
      await stage.replaced(reached!);

      const { result, effects, receipts } = await readLoopEnd(stage.bench.store, run);
      assert.equal(result.outcome, "escalated");
      assert.equal(await program.times(), 1);
      const left = folders.map((folder) => readdirSync(folder).sort());
      assert.deepEqual(left, Array(2).fill(["1.done", "2.done", "3.done"]));
      const undone = effects.filter(({ undoes }) => undoes !== null);
      assert.deepEqual([effects.length, undone.length], [5, 2]);
      assert.ok(effects.every(({ state }) => state === "done"));
      const counted = (category: string) =>
        receipts.filter((receipt) => receipt.category === category).length;
      assert.deepEqual([counted("repair_intended"), counted("undo_intended")], [3, 2]);
    },
  };
}

/** Starts a loop that is held after an activity. */
async function startLoop({ bench, start, hold }: Stage, service: Service, activity?: string) {
  const finding = await createServiceFinding(bench.store, service, "refused");
  const workflowId = `loop-${finding.fingerprint}`;
  const held = activity && await hold({ run: workflowId, when: "after", activity });
  const run = await start(WORKFLOW.itsmLoop, workflowId, finding);
  return { run, reached: held ? held.reached : undefined };
}

/** Waits until the program runs. */
async function runs({ store, dataDir }: LoopBench, service: string): Promise<void> {
  await eventually(async () => {
    const effect = (await listEffectsOn(store, service)).find(({ step }) => step === "run");
    const mark = effect && join(dataDir, "effects", effect.id, "started");
    return mark && await readFile(mark, "utf8").catch(() => "") || undefined;
  });
}

/** Writes a runbook of three steps: it moves files, runs a program, and moves other files. */
async function makeScene(
  { store, dataDir }: LoopBench,
  name: string,
  programs: string[],
  vain?: { tcp: string },
): Promise<Scene> {
  const folder = join(dataDir, "scenes", name);
  const go = join(folder, "go");
  const program = await countingProgram(join(folder, "bin"), "program", vain ? 0 : go);
  programs.push(program.path);
  const folders = [join(folder, "first"), join(folder, "second")] as const;
  for (const at of folders) {
    for (const n of [1, 2, 3]) await writeOldFile(join(at, `${n}.done`), 3);
  }
  const move = (at: string) => ({
    clean: { folders: [at], match: ["*.done"], older_than: "1d" },
    undo: { put_back: true },
  });
  const verify = vain ? { verify: { look: vain, within: "1s" } } : {};
  await writeRunbooks(join(dataDir, "runbooks"), {
    [name]: {
      match: { services: [name] },
      steps: [
        runbookStep("move-first", move(folders[0])),
        runbookStep("run", { command: { argv: [program.path] }, bounds: { within: "2m" } }),
        runbookStep("move-second", { ...move(folders[1]), ...verify }),
      ],
    },
  }, programs);
  const service: Service = {
    name,
    type: "web",
    host: "localhost",
    owner: null,
    origin: "file",
    watched: false,
    dependsOn: [],
    restart: null,
    check: vain ?? { command: ["test", "-e", join(folder, "bin", "program.log")] },
  };
  await putServices(store.asPlatform(), [service]);
  return { service, program, folders, release: () => writeFile(go, "") };
}

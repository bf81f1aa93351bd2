import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { type LoopResult, WORKFLOW } from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { putServices } from "../../store/cmdb/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { freePort } from "../_run.ts";
import { eventually } from "../_time.ts";
import { writeOldFile } from "../judgement/runbooks/_runbook.ts";
import { type KillPoint, type LoopBench, openLoopBench } from "./_loop_bench.ts";
import { countingProgram, runbookStep, writeRunbooks } from "./_runbooks.ts";
import { listEffectsOn, readTicketRecord } from "./_ticket_record.ts";

/** Longer than the heartbeat timeout. */
const SLOW_SECONDS = 7;

const POINTS: readonly KillPoint[] = [
  { when: "after", activity: "remediate" },
  { when: "after", activity: "undo" },
];

/** A service that fails, and what its runbook acts on. */
interface Scene {
  readonly service: Service;
  readonly program: { times(): Promise<number> };
  readonly folders: readonly string[];
}

/** The end of a loop. */
type LoopEnd = Awaited<ReturnType<typeof readTicketRecord>> & {
  readonly result: LoopResult;
  /** Names of the files in each folder. */
  readonly left: readonly string[][];
  /** Number of runs of the program. */
  readonly times: number;
};

describe("a worker that is killed with -9 in the middle of a runbook", () => {
  let bench: LoopBench;
  const programs: string[] = [];
  const ends = new Map<string, Promise<LoopEnd>>();

  before(async () => {
    bench = await openLoopBench();
    // The last step is never verified there, so that the others are undone.
    const vain = { tcp: `127.0.0.1:${await freePort()}` };
    const slow = await scene("slowly", SLOW_SECONDS);
    const points = await Promise.all(POINTS.map(async (point) => ({
      ...point,
      ...await scene(`after-${point.activity}`, 0, vain),
    })));
    // Workers read the runbooks at start, so all of them are written before.
    ends.set("slowly", killed(slow, "slowly", "during the program"));
    for (const made of points) ends.set(made.activity, killed(made, made.activity, made));
    for (const end of ends.values()) end.catch(() => {}); // reported by its test
  });
  after(async () => {
    await Promise.allSettled(ends.values());
    await bench?.close();
  });

  /** Writes a runbook of three steps: it moves files, runs a program, and moves other files. */
  async function scene(name: string, seconds: number, vain?: { tcp: string }): Promise<Scene> {
    const folder = join(bench.dataDir, "scenes", name);
    const program = await countingProgram(join(folder, "bin"), "program", seconds);
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
    await writeRunbooks(join(bench.dataDir, "runbooks"), {
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
    await putServices(bench.store.asPlatform(), [service]);
    return { service, program, folders };
  }

  /** Runs the loop with a worker that is killed, and then with the next one. */
  async function killed(
    { service, program, folders }: Scene,
    taskQueue: string,
    when: KillPoint | "during the program",
  ): Promise<LoopEnd> {
    const first = await bench.worker(taskQueue);
    first.begin();
    if (typeof when === "object") first.dieAt(when);
    const finding = await createServiceFinding(bench.store, service, "refused");
    const run = await bench.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue,
      args: [finding],
      workflowId: `loop-${finding.fingerprint}`,
    });
    if (typeof when === "string") {
      await untilRuns(service.name);
      first.kill();
    }
    const successor = await bench.worker(taskQueue);
    assert.equal(await first.ended, "SIGKILL");
    successor.begin();
    const result = await run.result();
    const story = await readTicketRecord(bench.store, result.ticket_id!);
    const left = folders.map((folder) => readdirSync(folder).sort());
    return { ...story, result, left, times: await program.times() };
  }

  async function untilRuns(service: string): Promise<void> {
    await eventually(async () => {
      const effect = (await listEffectsOn(bench.store, service)).find(({ step }) => step === "run");
      const mark = effect && join(bench.dataDir, "effects", effect.id, "started");
      return mark && await readFile(mark, "utf8").catch(() => "") || undefined;
    });
  }

  it("while a slow step runs: each step is done once, and the receipt has all three", async () => {
    const { result, times, effects, receipts } = (await ends.get("slowly"))!;
    assert.equal(result.outcome, "sealed");
    assert.equal(times, 1);
    assert.deepEqual(effects.map(({ step, state }) => [step, state]).reverse(), [
      ["move-first", "done"],
      ["run", "done"],
      ["move-second", "done"],
    ]);
    assert.deepEqual(
      receipts.map(({ category }) => category).filter((one) => one === "repair_intended").length,
      3,
    );
    const { steps } = receipts.at(-1)!.details as { steps: { code: string }[] };
    assert.deepEqual(steps.map(({ code }) => code), ["moved_beside", "exit_0", "moved_beside"]);
  });

  for (const { activity } of POINTS) {
    it(`after the work of ${activity}, before the report: nothing is done or undone twice`, async () => {
      const { result, times, left, effects, receipts } = (await ends.get(activity))!;
      assert.equal(result.outcome, "escalated");
      assert.equal(times, 3, "once a round");
      assert.deepEqual(left, Array(2).fill(["1.done", "2.done", "3.done"]));
      const undone = effects.filter(({ undoes }) => undoes !== null);
      assert.deepEqual([effects.length, undone.length], [15, 6]);
      assert.ok(effects.every(({ state }) => state === "done"));
      const counted = (category: string) =>
        receipts.filter((receipt) => receipt.category === category).length;
      assert.deepEqual([counted("repair_intended"), counted("undo_intended")], [9, 6]);
    });
  }
});

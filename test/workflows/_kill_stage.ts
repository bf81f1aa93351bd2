/**
 * Kills of workers, many runs at a time. Rows are scripts that start runs, wait until the worker was killed at a moment of
 * their choice, and check what became of them. The worker of a wave is killed with -9 once each of its rows is at its moment.
 */
import assert from "node:assert/strict";
import type { WorkflowHandle } from "@temporalio/client";
import { TASK_QUEUE, type WorkflowName } from "../../contract/domain/mod.ts";
import { eventually } from "../_time.ts";
import type { HoldPoint, LoopBench, WorkerProcess } from "./_loop_bench.ts";

/** A kind of runs, with the rows of its kills. */
export interface KillSubject {
  /** Starts what the platform needs, such as servers. @returns settings of the platform */
  open?(): Promise<Readonly<Record<string, string>>>;
  /** Writes what workers read at their start, before the first one starts. */
  prepare?(bench: LoopBench): Promise<void>;
  /** Skips a test of a row where this machine can't run it. */
  skip?(context: Mocha.Context): Promise<void>;
  close?(): unknown;
  readonly rows: readonly KillRow[];
}

/** A kill and what must hold after it. */
export interface KillRow {
  /** Name of its test. */
  readonly name: string;
  run(stage: Stage): Promise<void>;
}

/** The means of a row. Its first call of a method waits until all rows of the wave have made theirs, and so are prepared. */
export interface Stage {
  readonly bench: LoopBench;
  /** Starts a run of a workflow. When the row has ended, the run must have ended, or wait for more with nothing to do. */
  start(type: WorkflowName, workflowId: string, ...args: unknown[]): Promise<WorkflowHandle>;
  /** Lets the worker, or the next one if it was killed, hold a run at a point until it is killed. */
  hold(point: HoldPoint): Promise<{ readonly reached: Promise<void> }>;
  /** Waits until the other rows of the wave are at their moments or have ended. */
  othersAreReady(): Promise<void>;
  /** Waits for a moment of this row, and until the worker was killed then. No other works before {@linkcode next}. */
  killed(moment: Promise<unknown>): Promise<void>;
  /** Waits until the next worker has begun. */
  next(): Promise<void>;
  /** Does both. */
  replaced(moment: Promise<unknown>): Promise<void>;
  /** Waits until a run has ended, or waits for more with nothing to do. */
  settled(run: WorkflowHandle): Promise<void>;
}

/** Workers of a bench, one at a time. */
export interface WorkerChain {
  hold: WorkerProcess["hold"];
  /** Prepares the next worker. */
  prepare(): void;
  kill(): Promise<void>;
  begin(): Promise<void>;
}

/** Starts the first worker. */
export async function startWorkerChain(bench: LoopBench): Promise<WorkerChain> {
  let worker = await bench.worker(TASK_QUEUE.itsm);
  let coming: Promise<WorkerProcess> | undefined;
  let isDead = false;
  worker.begin();
  return {
    hold: async (point) => await (isDead ? await coming! : worker).hold(point),
    prepare() {
      coming ??= bench.worker(TASK_QUEUE.itsm);
      coming.catch(() => {}); // waited for when it begins
    },
    async kill() {
      isDead = true;
      worker.kill();
      assert.equal(await worker.ended, "SIGKILL");
    },
    async begin() {
      worker = await coming!;
      coming = undefined;
      isDead = false;
      worker.begin();
    },
  };
}

/** Runs the rows of a wave. @returns their ends, in their order */
export function runWave(
  bench: LoopBench,
  workers: WorkerChain,
  rows: readonly KillRow[],
): Promise<void>[] {
  const barrier = openBarrier(rows.length, workers);
  return rows.map(async ({ run }) => {
    const runs: WorkflowHandle[] = [];
    let isPrepared = false;
    const prepared = async () => {
      if (isPrepared) return;
      isPrepared = true;
      await barrier.wait("prepared");
    };
    const stage: Stage = {
      bench,
      async start(type, workflowId, ...args) {
        await prepared();
        const options = { taskQueue: TASK_QUEUE.itsm, workflowId, args };
        const handle = await bench.client.workflow.start(type, options);
        runs.push(handle);
        return handle;
      },
      async hold(point) {
        await prepared();
        return await workers.hold(point);
      },
      async othersAreReady() {
        await prepared();
        await barrier.wait("others");
      },
      async killed(moment) {
        await prepared();
        workers.prepare();
        await moment;
        await barrier.wait("killed");
      },
      next: () => barrier.wait("next"),
      async replaced(moment) {
        await stage.killed(moment);
        await stage.next();
      },
      settled: assertSettled,
    };
    try {
      await run(stage);
      for (const handle of runs) await assertSettled(handle);
    } finally {
      barrier.leave();
    }
  });
}

/** Reasons for a row to wait. */
type Wait = "prepared" | "others" | "killed" | "next";

/** Opens a barrier of rows: none passes before all that have not left wait. */
function openBarrier(count: number, workers: WorkerChain) {
  let waiting: { readonly what: Wait; resolve(): void; reject(error: unknown): void }[] = [];

  function pass(): void {
    if (waiting.length < count || count === 0) return;
    const first = (["prepared", "others", "next", "killed"] as const)
      .find((what) => waiting.some((one) => one.what === what))!;
    const passing = waiting.filter(({ what }) => what === first);
    waiting = waiting.filter(({ what }) => what !== first);
    const work = first === "killed"
      ? workers.kill()
      : first === "next"
      ? workers.begin()
      : undefined;
    Promise.resolve(work).then(
      () => passing.forEach(({ resolve }) => resolve()),
      (error) => passing.forEach(({ reject }) => reject(error)),
    );
  }

  return {
    wait: (what: Wait) =>
      new Promise<void>((resolve, reject) => {
        waiting.push({ what, resolve, reject });
        pass();
      }),
    leave() {
      count--;
      pass();
    },
  };
}

/** Checks that a run has ended, or waits for more with nothing to do. */
async function assertSettled(handle: WorkflowHandle): Promise<void> {
  await eventually(async () => {
    const { status, raw } = await handle.describe();
    if (status.name !== "RUNNING") {
      assert.equal(status.name, "COMPLETED", handle.workflowId);
      return true;
    }
    const pending = [...raw.pendingActivities ?? [], ...raw.pendingChildren ?? []];
    return pending.length === 0 || undefined;
  });
}

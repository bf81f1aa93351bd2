import assert from "node:assert/strict";
import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import {
  everySignal,
  nowSignal,
  type Routine,
  routineId,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import {
  ensureRoutine,
  keepWorkflowRunning,
  listRoutines,
  registerTemporal,
  sweepNow,
} from "../../runtime/temporal/mod.ts";
import { loadConfig } from "../../config.ts";
import { eventually } from "../_time.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { currentDetails } from "./_routine.ts";

/** Bytes of one signal. Three of them make a history so long that Temporal suggests to continue as new. */
const MUCH = 1_500_000;

describe("a routine", function () {
  let loop: TestLoop;
  /** Sweeps that have begun. */
  let begun = 0;
  let working = 0;
  let mostWorking = 0;
  /** Sweeps wait for it before they look. */
  let hold: Promise<void> = Promise.resolve();
  const runs: WorkflowHandle[] = [];

  before(async () => {
    loop = await openLoop({
      watch: async (moment, activity) => {
        if (activity !== "runDetectors") return;
        if (moment === "after") return void working--;
        begun++;
        mostWorking = Math.max(mostWorking, ++working);
        await hold;
      },
    });
  });
  after(() => loop?.stop());
  afterEach(async () => {
    for (const run of runs.splice(0)) await run.terminate().catch(() => {});
    begun = 0;
  });

  /** Starts the routine of sweeps, which looks once a day by itself. */
  async function startSweeps(everySeconds = 86_400): Promise<WorkflowHandle> {
    const args: [Routine] = [{ name: "sweep", every_seconds: everySeconds }];
    const run = await loop.client.workflow.start(WORKFLOW.routine, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: routineId("sweep"),
      args,
    });
    runs.push(loop.client.workflow.getHandle(run.workflowId)); // also what it continues as
    return runs.at(-1)!;
  }

  /** Waits until a number of sweeps have begun, or more. */
  const sweeps = (count: number) =>
    eventually(() => Promise.resolve(begun >= count ? true : undefined));
  const details = (run: WorkflowHandle, pattern: RegExp) =>
    eventually(async () => pattern.exec(await currentDetails(run)) ?? undefined);

  it("does its work at each multiple of its interval, and tells when", async () => {
    const run = await startSweeps(1);
    await sweeps(3);
    const [, next, last] = await details(run, /next\*\* (\S+) · \*\*last\*\* (\S+) · probed \d+/);
    assert.match(next!, /\.000Z$/);
    assert.ok(last! < next!);
  });

  it("works once at a time, and once more for all that asked meanwhile", async () => {
    let release = () => {};
    hold = new Promise((resolve) => release = resolve);
    const run = await startSweeps();
    await sweepNow(loop.client);
    await sweeps(1);
    for (let n = 0; n < 3; n++) await sweepNow(loop.client);
    mostWorking = 1;
    release();
    await sweeps(2);
    await details(run, /last/);
    await run.signal(nowSignal); // one that is counted after all before it
    await sweeps(3);
    assert.deepEqual([begun, mostWorking], [3, 1]);
  });

  it("takes another interval from the settings without a run of its own", async () => {
    const run = await startSweeps();
    const first = (await run.describe()).runId;
    await details(run, /next/);
    const { temporal } = loop.config;
    const env = { SEALOOP_DATA: loop.config.dataDir, SEALOOP_SWEEP_SECONDS: "5" };
    const { sweep } = loadConfig(env).temporal.routines;
    await registerTemporal(loop.client, {
      ...loadConfig(env),
      temporal: { ...temporal, schedules: {}, routines: { sweep } },
    });
    await sweeps(1);
    assert.equal((await run.describe()).runId, first);
  });

  it("is started again where somebody has ended it", async () => {
    const run = await startSweeps();
    const first = (await run.describe()).runId;
    await run.terminate();
    const over = new AbortController();
    const [sweep] = listRoutines(loadConfig({ SEALOOP_DATA: loop.config.dataDir }));
    const keeping = keepWorkflowRunning(
      loop.client,
      (client) => ensureRoutine(client, sweep!),
      over.signal,
      20,
    );
    const { status, runId } = await eventually(async () => {
      const described = await run.describe();
      return described.runId === first ? undefined : described;
    });
    over.abort();
    await keeping;
    assert.equal(status.name, "RUNNING");
    assert.notEqual(runId, first);
  });

  it("continues as new when its history is long, at the interval that it has then, and forgets no call", async () => {
    const run = await startSweeps();
    const first = (await run.describe()).runId;
    await run.signal(everySignal, 43_200);
    let release = () => {};
    hold = new Promise((resolve) => release = resolve);
    await run.signal(nowSignal);
    await sweeps(1);
    const connection = await Connection.connect({ address: loop.place.address });
    const stranger = new Client({ connection, namespace: loop.place.namespace });
    for (let n = 0; n < 3; n++) { // they are dropped, as the platform has not sent them
      await stranger.workflow.getHandle(run.workflowId).signal("now", "x".repeat(MUCH));
    }
    await connection.close();
    await run.signal(nowSignal);
    release();
    await sweeps(2);
    const { runId } = await eventually(async () => {
      const described = await run.describe();
      return described.runId === first ? undefined : described;
    });
    const { events } = await loop.client.workflow.getHandle(run.workflowId, runId).fetchHistory();
    const { continuedExecutionRunId, input } = events![0]!.workflowExecutionStartedEventAttributes!;
    assert.equal(continuedExecutionRunId, first);
    const [start] = input!.payloads!.map(({ data }) => Buffer.from(data!).toString());
    assert.match(start!, /"every_seconds":43200/);
    assert.equal(begun, 2);
  });
});

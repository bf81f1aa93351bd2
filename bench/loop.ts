/**
 * The incident loop: time of one loop, and loops a second with 50 at once, from the call that starts it to its result,
 * against a workflow of six activities that do nothing, on the same server.
 *
 * A loop probes a service over HTTP, opens its ticket, has the engine diagnose it, asks the guardrails, runs `touch`,
 * probes until the service is healthy, closes the ticket, and waits until its receipt is part of the chain. Workers,
 * client and service share this process in both cases. Temporal, PostgreSQL and the engine are processes of their own,
 * and fsync is on.
 */
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { createServiceFinding } from "../judgement/detection/mod.ts";
import { startAttributes, TASK_QUEUE, WORKFLOW } from "../contract/domain/mod.ts";
import { DEFAULT_POLICY } from "../judgement/guard/mod.ts";
import type { Store } from "../store/mod.ts";
import { setPolicy } from "../store/calls/mod.ts";
import { putService } from "../store/cmdb/mod.ts";
import { startEngine } from "../test/judgement/engine/_engine.ts";
import { openLoop, type TestLoop } from "../test/workflows/_loop.ts";
import type { itsmLoop } from "../workflows/mod.ts";
import { BARE_ACTIVITIES, bundleBareWorkflow } from "./_bare_bundle.ts";
import type { bare } from "./_bare_workflow.ts";
import { DOWN_CODE, type DownServices, openDownServices } from "./_down_services.ts";
import { type Figure, measureInTurns, type Side } from "./_figures.ts";
import { rounds, timeMs } from "./_work.ts";
import { storeAs } from "../test/_servers.ts";

const ROUNDS_ALONE = rounds(11);
const ROUNDS_AT_ONCE = rounds(5);
const AT_ONCE = 50;
const BARE_QUEUE = "bare";

/** Prepares a run, which is not measured, and returns what runs it. */
type PrepareRun = () => Promise<() => Promise<void>>;

/** Measures one loop and many at once. */
export async function* run(): AsyncGenerator<Figure> {
  const loop = await openLoop({ serve: serveEngineApart, threads: true });
  await allowManyRepairs(loop.store);
  const bareWorker = await startBare(loop);
  const services = await openDownServices(loop.config.dataDir);
  const prepare = { baseline: prepareBare(bareWorker), platform: prepareLoop(loop, services) };
  const time = (side: Side) => () => timeRuns(prepare[side], 1);
  const rate = (side: Side) => async () =>
    AT_ONCE / (await timeRuns(prepare[side], AT_ONCE)) * 1000;
  const baselineLabel = "a workflow of six empty activities";
  try {
    const times = await measureInTurns(ROUNDS_ALONE, {
      baseline: time("baseline"),
      platform: time("platform"),
    });
    yield { label: "one loop, everything on, ms", ...times, baselineLabel, goal: "≤ 1.8" };
    const rates = await measureInTurns(ROUNDS_AT_ONCE, {
      baseline: rate("baseline"),
      platform: rate("platform"),
    });
    const label = `loops/s, ${AT_ONCE} at once, everything on`;
    yield { label, ...rates, baselineLabel, goal: "≥ 0.5" };
  } finally {
    await services.close();
    await bareWorker.stop();
    await loop.stop();
  }
}

/** Starts the engine as a process of its own, as the platform does. */
async function serveEngineApart(databaseUrl: string) {
  const { client, kill } = await startEngine(databaseUrl);
  return { client, close: kill };
}

/** Raises the limit above which the guardrails ask a person about a repair. */
async function allowManyRepairs(store: Store): Promise<void> {
  const bounds = { ...DEFAULT_POLICY.bounds, max_repairs_hour: 100_000 };
  const engine = await storeAs(store, "engine");
  await setPolicy(engine.asPlatform(), "guard_policies", { ...DEFAULT_POLICY, bounds });
}

/** Starts a worker and a client for the bare workflow, with the settings of the platform's own. */
async function startBare({ config, place: { address, namespace } }: TestLoop) {
  const { workflow_tasks, activities, pollers } = config.temporal.task_queues.itsm!;
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: BARE_QUEUE,
    workflowBundle: await bundleBareWorkflow(),
    activities: BARE_ACTIVITIES,
    reuseV8Context: true,
    maxConcurrentWorkflowTaskExecutions: workflow_tasks,
    maxConcurrentActivityTaskExecutions: activities,
    maxConcurrentWorkflowTaskPolls: pollers,
    maxConcurrentActivityTaskPolls: pollers,
  });
  const running = worker.run();
  const clients = await Connection.connect({ address });
  return {
    client: new Client({ connection: clients, namespace }),
    async stop() {
      worker.shutdown();
      await running;
      await Promise.all([connection.close(), clients.close()]);
    },
  };
}

/** Runs so many at once. @returns milliseconds */
async function timeRuns(prepare: PrepareRun, count: number): Promise<number> {
  const runs = await Promise.all(Array.from({ length: count }, prepare));
  return await timeMs(() => Promise.all(runs.map((run) => run())));
}

let runCount = 0;

function prepareBare({ client }: { readonly client: Client }): PrepareRun {
  return () =>
    Promise.resolve(async () => {
      await client.workflow.execute<typeof bare>("bare", {
        taskQueue: BARE_QUEUE,
        workflowId: `bare-${++runCount}`,
      });
    });
}

function prepareLoop({ client, store }: TestLoop, services: DownServices): PrepareRun {
  return async () => {
    const service = services.describe(`bench-${++runCount}`);
    await putService(store.asPlatform(), service);
    const finding = await createServiceFinding(store, service, DOWN_CODE);
    return async () => {
      const { outcome } = await client.workflow.execute<typeof itsmLoop>(WORKFLOW.itsmLoop, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `loop-${finding.fingerprint}`,
        args: [finding],
        typedSearchAttributes: startAttributes(finding),
      });
      if (outcome !== "sealed") throw new Error(`The loop of ${service.name} ended ${outcome}`);
    };
  };
}

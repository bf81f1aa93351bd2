/**
 * What the incident loop costs above its six activities: time of one loop, and loops a second at 50 at once, from the
 * call that starts it to its result, against a bare workflow of six activities that do nothing, on the same server.
 *
 * A loop probes a service over HTTP, opens its ticket, has the engine judge it, asks the guardrails, runs `touch`, probes
 * until it is healthy, closes the ticket, and waits until its receipt is part of the chain: four receipts, a dozen rows,
 * fsync on. Workers, client and service share this process in both cases; Temporal, PostgreSQL and the engine are
 * processes of their own.
 */
import { existsSync } from "node:fs";
import { createServiceFinding } from "../detection/mod.ts";
import type { Service } from "../integrations/host/mod.ts";
import { startAttributes, TASK_QUEUE, WORKFLOW } from "../domain/mod.ts";
import type { itsmLoop } from "../workflows/mod.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, NativeConnection } from "@temporalio/worker";
import { startWorkers } from "../temporal/mod.ts";
import { DEFAULT_POLICY } from "../guard/mod.ts";
import { putService, setPolicy, type Store } from "../store/mod.ts";
import { startEngine } from "../test/engine/_engine.ts";
import { openLoop, type TestLoop } from "../test/workflows/_loop.ts";
import { type Figure, inTurns } from "./_figures.ts";
import type { bare } from "./_bare_workflow.ts";

const TIMES = 11;
const ROUNDS = 5;
const AT_ONCE = 50;

/** Prepares a piece of work, which does not count, and gives what does it. */
type Work = () => Promise<() => Promise<void>>;

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const loop = await openLoop({ serve: engineApart, threads: true });
  await allowMany(loop.store);
  const stopBare = await openBareWorkers(loop);
  const { loopWork, close } = await openServices(loop);
  const works = { bare: bareWork(loop), house: loopWork };
  const time = (which: keyof typeof works) => () => milliseconds(works[which], 1);
  const rate = (which: keyof typeof works) => async () =>
    AT_ONCE / (await milliseconds(works[which], AT_ONCE)) * 1000;
  const baseline = "a workflow of six empty activities";
  try {
    const times = await inTurns(TIMES, { bare: time("bare"), house: time("house") });
    yield { what: "one loop, everything on, ms", ...times, baseline, goal: "≤ 1.8" };
    const rates = await inTurns(ROUNDS, { bare: rate("bare"), house: rate("house") });
    yield {
      what: `loops/s, ${AT_ONCE} at once, everything on`,
      ...{ ...rates, baseline, goal: "≥ 0.5" },
    };
  } finally {
    await close();
    await stopBare();
    await loop.stop();
  }
}

/** The engine as a process of its own, as it is on the platform. */
async function engineApart(databaseUrl: string) {
  const { client, kill: close } = await startEngine(databaseUrl);
  return { client, close };
}

/** The guardrails would ask a person about so many repairs within an hour. */
async function allowMany(store: Store): Promise<void> {
  const bounds = { ...DEFAULT_POLICY.bounds, max_repairs_hour: 100_000 };
  await setPolicy(store.asPlatform(), "guard_policies", { ...DEFAULT_POLICY, bounds });
}

/** Time of so many pieces of work at once. */
async function milliseconds(work: Work, atOnce: number): Promise<number> {
  const ready = await Promise.all(Array.from({ length: atOnce }, work));
  const started = performance.now();
  await Promise.all(ready.map((run) => run()));
  return performance.now() - started;
}

let count = 0;

function bareWork({ client }: TestLoop): Work {
  return () =>
    Promise.resolve(async () => {
      await client.workflow.execute<typeof bare>("bare", {
        taskQueue: "bare",
        workflowId: `bare-${++count}`,
      });
    });
}

/** Workers as the platform's own, for a task queue of their own. */
async function openBareWorkers({ config, place }: TestLoop): Promise<() => Promise<void>> {
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error };
  const workflowsPath = fileURLToPath(new URL("_bare_workflow.ts", import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  const task_queues = { bare: config.temporal.task_queues.itsm! };
  const workers = await startWorkers({
    config: { ...config, temporal: { ...config.temporal, task_queues } },
    activities: { nothing: () => Promise.resolve() },
    workflows: { workflowBundle: { code } },
    connect: async () => ({
      connection: await NativeConnection.connect({ address: place.address }),
      namespace: place.namespace,
    }),
    onFailure: (error) => console.error(error),
  });
  return workers.stop;
}

/** Services that are down until their restart has touched a file. */
async function openServices({ client, store, config }: TestLoop) {
  const fileOf = (name: string) => join(config.dataDir, name);
  const server = createServer((req, res) =>
    res.writeHead(existsSync(fileOf(req.url!.slice(1))) ? 200 : 500).end()
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  async function loopWork(): Promise<() => Promise<void>> {
    const name = `bench-${++count}`;
    const service: Service = {
      ...{ name, type: "bench", host: "localhost", owner: null, origin: "test", watched: false },
      dependsOn: [],
      check: { http: `http://127.0.0.1:${port}/${name}` },
      restart: { command: ["touch", fileOf(name)] },
    };
    await putService(store.asPlatform(), service);
    const finding = createServiceFinding(service, "status_500");
    return async () => {
      const { outcome } = await client.workflow.execute<typeof itsmLoop>(WORKFLOW.itsmLoop, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `loop-${finding.fingerprint}`,
        args: [finding],
        typedSearchAttributes: startAttributes(finding),
      });
      if (outcome !== "sealed") throw new Error(`${name} ended ${outcome}`);
    };
  }
  const close = () => new Promise<unknown>((resolve) => server.close(resolve));
  return { loopWork, close };
}

/**
 * What each setting of Temporal is worth: time of one bare workflow of six activities, and runs a second at 25 at once,
 * with one thing changed, against the same as `temporal.yaml` and the workers have it.
 *
 * Workers and client share this process; each kind of server is a process of its own, with its state in a file.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  bundleWorkflowCode,
  NativeConnection,
  Worker,
  type WorkerOptions,
} from "@temporalio/worker";
import { freePort, testFolder } from "../test/_run.ts";
import { fileURLToPath } from "node:url";
import { Client } from "@temporalio/client";
import { loadConfig, type TemporalSettings } from "../config.ts";
import { claimDataFolder, startTemporal } from "../embedded/mod.ts";
import { installQuietRuntime } from "../test/workflows/_loop.ts";
import type { Kind } from "./_bare_workflow.ts";
import { type Figure, inTurns } from "./_figures.ts";

const TIMES = 9;
const ROUNDS = 3;
const AT_ONCE = 25;

type Server = TemporalSettings["embedded"];

/** How a variant differs from what is set. */
interface Variant {
  readonly server?: (set: Server) => Server;
  readonly worker?: Partial<WorkerOptions>;
  readonly kind?: Kind;
  readonly eagerStart?: boolean;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  "the server's defaults": { server: (set) => ({ ...set, sqlite: {}, dynamic_config: {} }) },
  "sqlite: rollback journal, not WAL": {
    server: (set) => ({ ...set, sqlite: { ...set.sqlite, journal_mode: "DELETE" } }),
  },
  "sqlite: synchronous NORMAL, not FULL": {
    server: (set) => ({ ...set, sqlite: { ...set.sqlite, synchronous: "NORMAL" } }),
  },
  "default transferProcessorMaxPollRPS": {
    server: (set) => ({ ...set, dynamic_config: without(set, "transfer") }),
  },
  "default timerProcessorMaxPollRPS": {
    server: (set) => ({ ...set, dynamic_config: without(set, "timer") }),
  },
  "reuseV8Context off": { worker: { reuseV8Context: false } },
  "no sticky cache": { worker: { maxCachedWorkflows: 0 } },
  "2 pollers, not 4": { worker: pollers(2) },
  "10 pollers, not 4": { worker: pollers(10) },
  "activities not eager": { kind: "notEager" },
  "local activities": { kind: "local" },
  "eager start": { eagerStart: true },
};

function without({ dynamic_config }: Server, name: string): Server["dynamic_config"] {
  return Object.fromEntries(Object.entries(dynamic_config).filter(([key]) => !key.includes(name)));
}

function pollers(count: number): Partial<WorkerOptions> {
  return { maxConcurrentWorkflowTaskPolls: count, maxConcurrentActivityTaskPolls: count };
}

/** Runs so many workflows at once. */
type Runs = (atOnce: number) => Promise<void>;

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  installQuietRuntime();
  const { temporal } = loadConfig({});
  const asSet = await startServer(temporal, temporal.embedded);
  const bare = await openWorker(asSet.address, temporal, {});
  for (const [what, variant] of Object.entries(VARIANTS)) {
    const own = variant.server && await startServer(temporal, variant.server(temporal.embedded));
    const house = await openWorker((own ?? asSet).address, temporal, variant);
    const time = (runs: Runs) => () => milliseconds(() => runs(1));
    const rate = (runs: Runs) => async () =>
      AT_ONCE / (await milliseconds(() => runs(AT_ONCE))) * 1000;
    const times = await inTurns(TIMES, { bare: time(bare.runs), house: time(house.runs) });
    yield { what: `${what}: one run, ms`, ...times };
    const rates = await inTurns(ROUNDS, { bare: rate(bare.runs), house: rate(house.runs) });
    yield { what: `${what}: runs/s, ${AT_ONCE} at once`, ...rates };
    await house.stop();
    await own?.stop();
  }
  await bare.stop();
  await asSet.stop();
}

async function startServer(temporal: TemporalSettings, embedded: Server) {
  const folder = await testFolder();
  const tree = await claimDataFolder(folder); // so that it ends with this process, however that ends
  const ports = { grpc: await freePort(), ui: await freePort() };
  const { address, stop } = await startTemporal(folder, ports, { ...temporal, embedded }, { tree });
  return { address, stop: () => stop().then(tree.release) };
}

let bundle: Promise<{ code: string }> | undefined;
let count = 0;

async function openWorker(address: string, temporal: TemporalSettings, variant: Variant) {
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error };
  const workflowsPath = fileURLToPath(new URL("_bare_workflow.ts", import.meta.url));
  const { code } = await (bundle ??= bundleWorkflowCode({ workflowsPath, logger: quiet }));
  const connection = await NativeConnection.connect({ address });
  const { namespace, task_queues: { itsm } } = temporal;
  const taskQueue = `bare-${++count}`;
  const worker = await Worker.create({
    ...{ connection, namespace, taskQueue, workflowBundle: { code } },
    activities: { nothing: () => Promise.resolve() },
    reuseV8Context: true,
    maxConcurrentWorkflowTaskExecutions: itsm!.workflow_tasks,
    maxConcurrentActivityTaskExecutions: itsm!.activities,
    ...pollers(itsm!.pollers),
    maxCachedWorkflows: 500,
    ...variant.worker,
  });
  const running = worker.run();
  const client = new Client({ connection, namespace });
  const one = () =>
    client.workflow.execute("bare", {
      ...{ taskQueue, workflowId: `bare-${++count}`, args: [variant.kind ?? "plain"] },
      requestEagerStart: variant.eagerStart ?? false,
    });
  await sleep(500); // the server takes a moment until it knows its pollers
  return {
    async runs(atOnce: number) {
      await Promise.all(Array.from({ length: atOnce }, one));
    },
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

async function milliseconds(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * The effect of each setting of Temporal: time of one bare workflow of six activities, and runs a second with 25 at once,
 * with one setting changed, against the same with `temporal.yaml` and the workers as they are.
 *
 * Workers and client share this process. Each variant of the server is a process of its own, with its state in a file.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@temporalio/client";
import { NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import { loadConfig, type TemporalSettings } from "../config.ts";
import { claimDataFolder, startTemporal } from "../runtime/embedded/mod.ts";
import { freePort, testFolder } from "../test/_run.ts";
import { installQuietRuntime } from "../test/workflows/_loop.ts";
import { BARE_ACTIVITIES, bundleBareWorkflow } from "./_bare_bundle.ts";
import type { ActivityCall } from "./_bare_workflow.ts";
import { type Figure, measureInTurns } from "./_figures.ts";
import { ratePerSecond, rounds, runConcurrently, timeMs } from "./_work.ts";

const ROUNDS_ALONE = rounds(9);
const ROUNDS_AT_ONCE = rounds(3);
const AT_ONCE = 25;
/** Time until the server knows the pollers of a new worker. */
const POLLERS_KNOWN_MS = 500;

type ServerSettings = TemporalSettings["embedded"];

/** Settings that differ from those in use. */
interface Variant {
  readonly server?: (current: ServerSettings) => ServerSettings;
  readonly worker?: Partial<WorkerOptions>;
  readonly call?: ActivityCall;
  readonly eagerStart?: boolean;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  "the server's defaults": {
    server: (current) => ({ ...current, sqlite: {}, dynamic_config: {} }),
  },
  "sqlite: rollback journal, not WAL": {
    server: (current) => ({ ...current, sqlite: { ...current.sqlite, journal_mode: "DELETE" } }),
  },
  "sqlite: synchronous NORMAL, not FULL": {
    server: (current) => ({ ...current, sqlite: { ...current.sqlite, synchronous: "NORMAL" } }),
  },
  "default transferProcessorMaxPollRPS": {
    server: (current) => ({ ...current, dynamic_config: omit(current.dynamic_config, "transfer") }),
  },
  "default timerProcessorMaxPollRPS": {
    server: (current) => ({ ...current, dynamic_config: omit(current.dynamic_config, "timer") }),
  },
  "reuseV8Context off": { worker: { reuseV8Context: false } },
  "no sticky cache": { worker: { maxCachedWorkflows: 0 } },
  "2 pollers, not 4": { worker: pollers(2) },
  "10 pollers, not 4": { worker: pollers(10) },
  "activities not eager": { call: "notEager" },
  "local activities": { call: "local" },
  "eager start": { eagerStart: true },
};

function omit(
  config: ServerSettings["dynamic_config"],
  part: string,
): ServerSettings["dynamic_config"] {
  return Object.fromEntries(Object.entries(config).filter(([key]) => !key.includes(part)));
}

function pollers(count: number): Partial<WorkerOptions> {
  return { maxConcurrentWorkflowTaskPolls: count, maxConcurrentActivityTaskPolls: count };
}

/** Measures each variant. */
export async function* run(): AsyncGenerator<Figure> {
  installQuietRuntime();
  const { temporal } = loadConfig({});
  const server = await startServer(temporal, temporal.embedded);
  const current = await startWorker(server.address, temporal, {});
  for (const [name, variant] of Object.entries(VARIANTS)) {
    const ownServer = variant.server &&
      await startServer(temporal, variant.server(temporal.embedded));
    const changed = await startWorker((ownServer ?? server).address, temporal, variant);
    const times = await measureInTurns(ROUNDS_ALONE, {
      baseline: () => timeMs(() => current.runAtOnce(1)),
      platform: () => timeMs(() => changed.runAtOnce(1)),
    });
    yield { label: `${name}: one run, ms`, ...times };
    const rates = await measureInTurns(ROUNDS_AT_ONCE, {
      baseline: () => ratePerSecond(AT_ONCE, () => current.runAtOnce(AT_ONCE)),
      platform: () => ratePerSecond(AT_ONCE, () => changed.runAtOnce(AT_ONCE)),
    });
    yield { label: `${name}: runs/s, ${AT_ONCE} at once`, ...rates };
    await changed.stop();
    await ownServer?.stop();
  }
  await current.stop();
  await server.stop();
}

/** Starts a server that ends with this process, however that ends. */
async function startServer(temporal: TemporalSettings, embedded: ServerSettings) {
  const folder = await testFolder();
  const tree = await claimDataFolder(folder);
  const ports = { grpc: await freePort(), ui: await freePort() };
  const { address, stop } = await startTemporal(folder, ports, { ...temporal, embedded }, { tree });
  return { address, stop: () => stop().then(tree.release) };
}

let idCount = 0;

async function startWorker(address: string, temporal: TemporalSettings, variant: Variant) {
  const connection = await NativeConnection.connect({ address });
  const { namespace, task_queues: { itsm } } = temporal;
  const taskQueue = `bare-${++idCount}`;
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: await bundleBareWorkflow(),
    activities: BARE_ACTIVITIES,
    reuseV8Context: true,
    maxConcurrentWorkflowTaskExecutions: itsm!.workflow_tasks,
    maxConcurrentActivityTaskExecutions: itsm!.activities,
    ...pollers(itsm!.pollers),
    maxCachedWorkflows: 500,
    ...variant.worker,
  });
  const running = worker.run();
  const client = new Client({ connection, namespace });
  const runOne = () =>
    client.workflow.execute("bare", {
      taskQueue,
      workflowId: `bare-${++idCount}`,
      args: [variant.call ?? "plain"],
      requestEagerStart: variant.eagerStart ?? false,
    });
  await sleep(POLLERS_KNOWN_MS);
  return {
    runAtOnce: (count: number) => runConcurrently(count, count, runOne),
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

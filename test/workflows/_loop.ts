/** A platform in this process: database, Temporal, engine and workers. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { heartbeat } from "@temporalio/activity";
import { Client, Connection } from "@temporalio/client";
import {
  bundleWorkflowCode,
  NativeConnection,
  Runtime,
  type WorkflowBundle,
} from "@temporalio/worker";
import {
  type ActivityParts,
  createActivities,
  createSequencerActivities,
  type TenantActivities,
} from "../../activities/mod.ts";
import type { Platform } from "../../calls/mod.ts";
import { type Config, loadConfig, ROOT } from "../../config.ts";
import { TASK_QUEUE } from "../../contract/domain/mod.ts";
import { openEngine } from "../../judgement/engine/mod.ts";
import type { Network } from "../../ledger/anchors/ots/mod.ts";
import { registry } from "../../operations/mod.ts";
import { loadCatalogue } from "../../judgement/runbooks/mod.ts";
import { openPlatform } from "../../processes/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import {
  clientFor,
  ensureSequencer,
  registerTemporal,
  startWorkers,
} from "../../runtime/temporal/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { TEST_DETECTORS, testFolder } from "../_run.ts";
import { type TestDatabase, testDatabase, type TestTemporal, testTemporal } from "../_servers.ts";
import { serveEngine } from "../judgement/engine/_engine.ts";

/** Is called before and after each activity, which waits for it, and lives meanwhile. */
export type Watch = (
  moment: "before" | "after",
  activity: string,
  args: readonly unknown[],
) => Promise<void> | void;

/** The platform of a test. */
export interface TestLoop extends ActivityParts {
  readonly client: Client;
  readonly database: TestDatabase;
  readonly place: TestTemporal;
  /** Stops the engine for good. */
  stopEngine(): Promise<void>;
  stop(): Promise<void>;
}

/** Serves an engine for a database. */
export type ServeEngine = (
  databaseUrl: string,
) => Promise<Pick<Awaited<ReturnType<typeof serveEngine>>, "client" | "close">>;

/** Serves no engine, for tests that count receipts: an engine seals its knowledge base at start. */
export function serveNoEngine() {
  const [url, secret] = ["http://127.0.0.1:9", "a secret of a test, of more than 32 characters"];
  return Promise.resolve({
    url,
    secret,
    client: openEngine({ url, secret }),
    close: () => Promise.resolve(),
  });
}

const quiet = {
  trace() {},
  debug() {},
  info() {},
  log() {},
  warn: console.warn,
  error: console.error,
};
/** Within the project, so that the bundle finds its packages. */
const CACHE = join(ROOT, "node_modules", ".cache", "sealoop", "programs");
let bundling: Promise<WorkflowBundle> | undefined;
let installed = false;

/** Bundles the workflows as workers load them. The bundle is cached by the content of what workflows import. */
export function bundleTestWorkflows(): Promise<WorkflowBundle> {
  return bundling ??= cachedBundle();
}

async function cachedBundle(): Promise<WorkflowBundle> {
  const hash = createHash("sha256").update(readFileSync(join(ROOT, "package-lock.json")));
  for (const folder of ["workflows", "contract/domain"]) {
    for (
      const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).sort()
    ) {
      if (name.endsWith(".ts")) {
        hash.update(`\n${name}\n`).update(readFileSync(join(ROOT, folder, name)));
      }
    }
  }
  const path = join(CACHE, `workflows-${hash.digest("hex").slice(0, 32)}.js`);
  if (existsSync(path)) return { code: readFileSync(path, "utf8") };
  const converters = join(ROOT, "workflows", "_converters.ts");
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(ROOT, "workflows", "mod.ts"),
    payloadConverterPath: converters,
    failureConverterPath: converters,
    workflowInterceptorModules: [join(ROOT, "workflows", "_interceptors.ts")],
    logger: quiet,
  });
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(`${path}.${process.pid}`, code);
  renameSync(`${path}.${process.pid}`, path);
  return { code };
}

/** Installs a Temporal runtime that logs warnings and errors only. */
export function installQuietRuntime(): void {
  if (!installed) {
    Runtime.install({
      logger: quiet,
      shutdownSignals: [],
      telemetryOptions: { logging: { forward: {} } },
    });
  }
  installed = true;
}

/**
 * Opens servers and parts, without workers.
 *
 * @param env environment variables
 * @param serve default: this process serves the engine
 */
export async function openParts(
  env: Record<string, string> = {},
  serve: ServeEngine = serveEngine,
  operations: Platform["operations"] = registry,
) {
  const [database, place, folder] = await Promise.all([
    testDatabase(),
    testTemporal(),
    testFolder(),
  ]);
  const config: Config = loadConfig({
    SEALOOP_DATA: folder,
    SEALOOP_SWEEP_SECONDS: "86400",
    SEALOOP_DETECTORS: TEST_DETECTORS,
    SEALOOP_OTS_CALENDARS: "none",
    SEALOOP_BITCOIN_SOURCES: "none",
    ...env,
  });
  const sequencerStore = openStore(database.urls.sequencer, "sequencer", 2);
  const connection = await Connection.connect({ address: place.address });
  const stopping = new AbortController();
  const engine = await serve(database.urls.engine);
  let engineStopped: Promise<void> | undefined;
  const stopEngine = () => engineStopped ??= engine.close();
  const log = createLog("test", "silent");
  const { platform, close } = await openPlatform(
    { config, log, databaseUrl: (role) => database.urls[role] },
    "worker",
    {
      engine: engine.client,
      operations,
      urls: { gateway: "http://localhost:8080", ledger: "http://127.0.0.1:8082" },
      temporal: () => Promise.resolve(client),
      timing: { queues: 1_000, flags: 200 },
    },
  );
  const client = clientFor(new Client({ connection, namespace: place.namespace }), platform.store);
  const runbooks = loadCatalogue(config);
  const parts: ActivityParts = {
    ...platform,
    runbooks: () => runbooks,
    stopping: stopping.signal,
  };
  return {
    ...parts,
    sequencerStore,
    client,
    stopping,
    stopEngine,
    database,
    place,
    async close() {
      await connection.close();
      await stopEngine();
      await Promise.all([close(), sequencerStore.close()]);
      await database.drop();
    },
  };
}

/**
 * Opens a platform with workers in this process.
 *
 * @param watch is called before and after each activity
 * @param settings environment variables
 * @param serve default: this process serves the engine
 * @param operations default: the platform's
 * @param schedules names of schedules that there are; they never run by themselves
 * @param network whose blocks prove anchors; default: Bitcoin's
 * @param threads whether workflows run in threads of their own, as in the worker's process; loading them takes a second
 */
export async function openLoop(
  { watch, settings, serve, network, operations, schedules = [], threads = false }: {
    watch?: Watch;
    serve?: ServeEngine;
    settings?: Record<string, string>;
    network?: Network;
    operations?: Platform["operations"];
    schedules?: readonly string[];
    threads?: boolean;
  } = {},
): Promise<TestLoop> {
  installQuietRuntime();
  const { close, stopping, ...rest } = await openParts(settings, serve, operations);
  const parts = { ...rest, stopping: stopping.signal, ...network ? { network } : {} };
  const activities = createAllActivities(parts);
  await registerTemporal(parts.client, withoutSchedules(parts.config, schedules));
  await ensureSequencer(parts.client);
  const { address, namespace } = parts.place;
  const workers = await startWorkers({
    config: parts.config,
    taskQueues: Object.values(TASK_QUEUE),
    activities: Object.fromEntries(
      Object.entries(activities).map(([queue, some]) => [queue, watched(some, watch)]),
    ),
    store: parts.store,
    workflows: { workflowBundle: await bundleTestWorkflows(), debugMode: !threads },
    connect: async () => ({ connection: await NativeConnection.connect({ address }), namespace }),
    onFailure: (error) => console.error(error),
    onStuck: (reason) => console.error(reason),
  });
  return {
    ...parts,
    async stop() {
      stopping.abort();
      await workers.stop();
      await close();
    },
  };
}

/** Creates the activities of a worker and of the sequencer's process, which are one in tests, by their task queues. */
export function createAllActivities(
  { sequencerStore, ...parts }: ActivityParts & { readonly sequencerStore: Store },
) {
  return {
    ...createActivities(parts),
    sequencer: createSequencerActivities({ ...parts, store: sequencerStore }),
  };
}

/** Puts the activities of all queues together, to be called by themselves. */
export function mergeActivities(byQueue: Readonly<Record<string, object>>): TenantActivities {
  return Object.assign({}, ...Object.values(byQueue));
}

/**
 * Returns the configuration without schedules and routines, which would do what a test is about to do.
 *
 * @param kept names of those that a test looks at; they never run by themselves
 */
export function withoutSchedules(config: Config, kept: readonly string[]): Config {
  const { temporal, settings } = config;
  const never = <T extends object>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => kept.includes(name))
        .map(([name, one]) => [name, { ...one, every: NEVER }]),
    );
  const { schedules, routines } = temporal;
  return {
    ...config,
    temporal: { ...temporal, schedules: never(schedules), routines: never(routines) },
    settings: { ...settings, SEALOOP_SWEEP_SECONDS: undefined },
  };
}

/** A hundred years. */
const NEVER = "36500d";

function watched(activities: object, watch: Watch | undefined): object {
  if (!watch) return activities;
  type Work = (...args: unknown[]) => Promise<unknown>;
  const entries = Object.entries(activities as Record<string, Work>).map(([name, work]) => [
    name,
    async (tenant: string, ...args: unknown[]) => {
      const timer = setInterval(heartbeat, 1_000);
      try {
        await watch("before", name, args);
        try {
          return await work(tenant, ...args);
        } finally {
          await watch("after", name, args);
        }
      } finally {
        clearInterval(timer);
      }
    },
  ]);
  return Object.fromEntries(entries);
}

/** A platform whose workers are processes of their own, which can be killed. */
import { fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { loadConfig } from "../../config.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { clientFor, ensureSequencer, registerTemporal } from "../../runtime/temporal/mod.ts";
import { program } from "../_programs.ts";
import { TEST_DETECTORS, testFolder } from "../_run.ts";
import { testDatabase, testTemporal } from "../_servers.ts";
import { serveEngine } from "../judgement/engine/_engine.ts";
import { bundleTestWorkflows, withoutSchedules } from "./_loop.ts";

/** Such a platform. */
export interface LoopBench {
  readonly store: Store;
  readonly client: Client;
  readonly dataDir: string;
  /** URL of the database for its superuser. */
  readonly superuserUrl: string;
  /** Starts a process that will take work from this queue and the ledger's. */
  worker(taskQueue: string): Promise<WorkerProcess>;
  close(): Promise<void>;
}

/** A point at which a worker holds a run. */
export interface HoldPoint {
  /** A part of the id of the run. */
  readonly run: string;
  /** At the start of the activity, or when its work is done and before its result is reported. */
  readonly when: "before" | "after";
  readonly activity: string;
}

/** A worker in a process of its own. */
export interface WorkerProcess {
  /** The signal that ended it; null: it ended by itself. */
  readonly ended: Promise<NodeJS.Signals | null>;
  /** Lets it take work. */
  begin(): void;
  /** Lets it hold a run at a point for ever. `reached` resolves when the run is there. */
  hold(point: HoldPoint): Promise<{ readonly reached: Promise<void> }>;
  /** Kills it with -9. */
  kill(): void;
}

/**
 * Opens one.
 *
 * @param settings environment variables
 * @param schedules names of schedules that there are; they never run by themselves
 * @param serve default: this process serves the engine
 */
export async function openLoopBench(
  { settings = {}, schedules = [], serve = serveEngine }: {
    readonly settings?: Readonly<Record<string, string>>;
    readonly schedules?: readonly string[];
    readonly serve?: (
      databaseUrl: string,
    ) => Promise<Pick<Awaited<ReturnType<typeof serveEngine>>, "url" | "secret" | "close">>;
  } = {},
): Promise<LoopBench> {
  const [database, { address, namespace }, dataDir, { code }] = await Promise.all([
    testDatabase(),
    testTemporal(),
    testFolder(),
    bundleTestWorkflows().then((bundle) => bundle as { code: string }),
  ]);
  const bundle = join(dataDir, "bundle.js");
  await writeFile(bundle, code);
  const env = {
    SEALOOP_DATA: dataDir,
    SEALOOP_DATABASE_WORKER_URL: database.urls.worker,
    SEALOOP_DATABASE_SEQUENCER_URL: database.urls.sequencer,
    SEALOOP_SWEEP_SECONDS: "86400",
    SEALOOP_DETECTORS: TEST_DETECTORS,
    SEALOOP_OTS_CALENDARS: "none",
    SEALOOP_BITCOIN_SOURCES: "none",
    ...settings,
  };
  const connection = await Connection.connect({ address });
  const store = openStore(database.urls.worker, "worker");
  const client = clientFor(new Client({ connection, namespace }), store);
  await registerTemporal(client, withoutSchedules(loadConfig(env), schedules));
  await ensureSequencer(client);
  const workers: WorkerProcess[] = [];
  const engine = await serve(database.urls.engine);
  return {
    store,
    client,
    dataDir,
    superuserUrl: database.superuserUrl,
    async worker(taskQueue) {
      const place = {
        ADDRESS: address,
        NAMESPACE: namespace,
        BUNDLE: bundle,
        ENGINE_URL: engine.url,
        ENGINE_SECRET: engine.secret,
      };
      const worker = await startWorker(taskQueue, { PATH: process.env.PATH, ...env, ...place });
      workers.push(worker);
      return worker;
    },
    async close() {
      for (const worker of workers) worker.kill();
      await Promise.all(workers.map(({ ended }) => ended));
      await store.close();
      await engine.close();
      await connection.close();
      await database.drop();
    },
  };
}

async function startWorker(taskQueue: string, env: NodeJS.ProcessEnv): Promise<WorkerProcess> {
  const child = fork(await program("test/workflows/_worker.ts"), [taskQueue], {
    execArgv: [],
    env,
  });
  const ended = once(child, "exit").then(([, signal]) => signal as NodeJS.Signals | null);
  await Promise.race([
    once(child, "message"),
    ended.then(() => {
      throw new Error("The worker ended before it was ready");
    }),
  ]);
  const holds: EventEmitter[] = [];
  child.on("message", ({ id, state }: { id: number; state: string }) => holds[id]?.emit(state));
  return {
    ended,
    begin: () => void child.send("begin"),
    async hold(point) {
      const id = holds.push(new EventEmitter()) - 1;
      const [set, reached] = ["set", "reached"].map((state) => once(holds[id]!, state));
      child.send({ id, ...point });
      await set;
      return { reached: reached!.then(() => {}) };
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

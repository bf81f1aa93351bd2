/** Workers on a database and a Temporal of their own, between which and the workers a test can cut the way. */
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { bundleWorkflowCode, NativeConnection, type WorkflowBundle } from "@temporalio/worker";
import { loadConfig, ROOT } from "../../../config.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import {
  clientFor,
  startWorkers,
  type WorkerParts,
  type Workers,
} from "../../../runtime/temporal/mod.ts";
import { testDatabase, testTemporal } from "../../_servers.ts";
import { type Forwarding, forwardTo } from "./_forwarding.ts";

/** A queue with a worker. */
export interface TestWorkers {
  readonly workers: Workers;
  readonly client: Client;
  /** The store of the client, which no cut meets. */
  readonly store: Store;
  /** The worker's way to the database. */
  readonly database: Forwarding;
  executeAsSuperuser(statement: string): Promise<void>;
  /** Errors of workers that stopped by themselves. */
  readonly failures: unknown[];
  /** Reasons for which the process would have ended. */
  readonly stuck: string[];
  close(): Promise<void>;
}

let bundle: Promise<WorkflowBundle> | undefined;

/** Options of {@linkcode startTestWorkers}. */
export interface WorkerOptions extends Partial<Pick<WorkerParts, "onStuck" | "stuckAfterMs">> {
  /** The queue about which the server answers the workers, whichever they ask about. */
  readonly seenQueue?: string;
  /** True: the way to the database is cut from the beginning. */
  readonly isCut?: boolean;
}

/** Starts workers of the queue `itsm`. */
export async function startTestWorkers(
  work: (note: { note: string }) => Promise<{ note: string }>,
  { seenQueue, isCut = false, ...options }: WorkerOptions = {},
): Promise<TestWorkers> {
  const [database, place] = await Promise.all([testDatabase(), testTemporal()]);
  const way = await forwardTo(Number(new URL(database.urls.worker).port));
  const cuttable = openStore(
    Object.assign(new URL(database.urls.worker), { port: way.port }).href,
    "worker",
  );
  const store = openStore(database.urls.worker, "worker");
  const connection = await Connection.connect({ address: place.address });
  const client = clientFor(new Client({ connection, namespace: place.namespace }), store);
  const failures: unknown[] = [];
  const stuck: string[] = [];
  bundle ??= bundleWorkflowCode({
    workflowsPath: join(ROOT, "test", "runtime", "temporal", "_workflows.ts"),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error },
  });
  if (isCut) way.cut();
  const workers = await startWorkers({
    config: loadConfig({}),
    taskQueues: ["itsm"],
    activities: { itsm: { work: (_tenant: string, note: { note: string }) => work(note) } },
    store: cuttable,
    workflows: { workflowBundle: await bundle, debugMode: true },
    connect: async () => {
      const connection = await NativeConnection.connect({ address: place.address });
      if (seenQueue !== undefined) askAbout(connection, seenQueue);
      return { connection, namespace: place.namespace };
    },
    onFailure: (error) => failures.push(error),
    onStuck: (reason) => stuck.push(reason),
    ...options,
  });
  return {
    workers,
    client,
    store,
    database: way,
    executeAsSuperuser: database.executeAsSuperuser,
    failures,
    stuck,
    async close() {
      await workers.stop();
      await way.close();
      await Promise.all([connection.close(), store.close(), cuttable.close()]);
      await database.drop();
    },
  };
}

/** Makes questions about any task queue ones about another. */
function askAbout({ workflowService }: NativeConnection, name: string): void {
  const describe = workflowService.describeTaskQueue.bind(workflowService);
  workflowService.describeTaskQueue =
    ((request: object) => describe({ ...request, taskQueue: { name } })) as typeof describe;
}

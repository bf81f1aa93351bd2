/**
 * A worker that holds runs until it is killed, for tests of what a crash leaves behind:
 *
 *     node --import tsx _worker.ts <task queue>
 *
 * It sends `ready` to its parent, and obeys its messages: `begin` to take work; a point to hold a run at the start of an
 * activity (`before`), or when that has ended and before its result is reported (`after`). It tells when the run is there.
 */
import { Context, heartbeat } from "@temporalio/activity";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { createActivities, createSequencerActivities } from "../../activities/mod.ts";
import { loadConfig } from "../../config.ts";
import { placeQueue, TASK_QUEUE } from "../../contract/domain/mod.ts";
import { openEngine } from "../../judgement/engine/mod.ts";
import { openPlatform } from "../../processes/mod.ts";
import { loadCatalogue } from "../../judgement/runbooks/mod.ts";
import { openStore } from "../../store/mod.ts";
import { reportPlace } from "../../store/platform/mod.ts";
import { authenticatedWork, clientFor } from "../../runtime/temporal/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { TEST_NETWORK } from "../ledger/anchors/ots/_chain.ts";
import type { HoldPoint } from "./_loop_bench.ts";

const [itsmQueue] = process.argv.slice(2) as [string];
const { ADDRESS: address, NAMESPACE: namespace, BUNDLE: codePath } = process.env;
const { ENGINE_URL, ENGINE_SECRET } = process.env;
Runtime.install({
  logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error },
  shutdownSignals: [],
});
process.on("disconnect", () => process.exit()); // the test has ended

const config = loadConfig(process.env);
const { SEALOOP_DATABASE_WORKER_URL: workerUrl, SEALOOP_DATABASE_SEQUENCER_URL: sequencerUrl } =
  config.settings;
const log = createLog("test", "silent");
const { platform } = await openPlatform({ config, log, databaseUrl: () => workerUrl! }, "worker");
const bare = new Client({ connection: await Connection.connect({ address }), namespace });
const client = clientFor(bare, platform.store);
const stopping = new AbortController().signal;
const runbooks = loadCatalogue(config);
const worked = createActivities({
  ...platform,
  temporal: () => Promise.resolve(client),
  runbooks: () => runbooks,
  engine: openEngine({ url: ENGINE_URL!, secret: ENGINE_SECRET!, timeoutMs: 30_000 }),
  stopping,
  network: TEST_NETWORK,
});
const sequencerStore = openStore(sequencerUrl!, "sequencer");
const { place } = config;
const sequencer = createSequencerActivities({ config, store: sequencerStore, stopping });
const queues = [
  { taskQueue: itsmQueue, activities: worked.itsm, hasWorkflows: true },
  { taskQueue: TASK_QUEUE.ledger, activities: worked.ledger, hasWorkflows: true },
  { taskQueue: placeQueue(TASK_QUEUE.act, place), activities: worked.act },
  { taskQueue: placeQueue(TASK_QUEUE.media, place), activities: worked.media },
  { taskQueue: TASK_QUEUE.sequencer, activities: sequencer, hasWorkflows: true },
];

const holds = new Set<HoldPoint & { readonly id: number; isReached?: true }>();
type Work = (...args: unknown[]) => Promise<unknown>;
const holding = (activities: object) =>
  Object.fromEntries(
    Object.entries(activities as Record<string, Work>).map(([name, work]) => [
      name,
      async (...args: unknown[]) => {
        const { workflowId } = Context.current().info.workflowExecution!;
        const hold = [...holds].find(({ activity, run }) =>
          activity === name && workflowId.includes(run)
        );
        if (hold && (hold.when === "before" || hold.isReached)) await reach(hold); // or an attempt timed out there
        const result = await work(...args);
        if (hold) await reach(hold);
        return result;
      },
    ]),
  );
const connection = await NativeConnection.connect({ address });
const workers = await Promise.all(
  queues.map(({ taskQueue, activities, hasWorkflows }) =>
    Worker.create({
      connection,
      namespace,
      taskQueue,
      ...(hasWorkflows ? { workflowBundle: { codePath: codePath! } } : {}),
      activities: holding(activities),
      ...authenticatedWork(platform.store),
      reuseV8Context: true,
      debugMode: true, // workflows run in this thread, which saves half a second
      stickyQueueScheduleToStartTimeout: "1s",
      maxHeartbeatThrottleInterval: "1s",
    })
  ),
);
process.on("message", (message: "begin" | HoldPoint & { readonly id: number }) => {
  if (message === "begin") {
    for (const worker of workers) void worker.run();
    const report = () => void reportPlace(platform.store.asPlatform(), place).catch(() => {});
    report();
    setInterval(report, 1_000).unref();
    return;
  }
  holds.add(message);
  process.send!({ id: message.id, state: "set" });
});
process.send!("ready");

/** Waits for ever, and sends heartbeats. */
async function reach(hold: { readonly id: number; isReached?: true }): Promise<void> {
  hold.isReached = true;
  process.send!({ id: hold.id, state: "reached" });
  setInterval(() => heartbeat(), 1_000);
  await new Promise(() => {});
}

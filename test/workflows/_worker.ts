/**
 * A worker that kills itself, for tests of what a crash leaves behind:
 *
 *     node --import tsx _worker.ts <task queue>
 *
 * It sends `ready` to its parent, and obeys its messages: `begin` to take work; `{when, activity}` to kill itself at the
 * start of the next such activity (`before`), or when that has ended and before its result is reported (`after`).
 */
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { createActivities, createSequencerActivities } from "../../activities/mod.ts";
import { loadConfig } from "../../config.ts";
import { TASK_QUEUE } from "../../contract/domain/mod.ts";
import { openEngine } from "../../judgement/engine/mod.ts";
import { openPlatform } from "../../processes/mod.ts";
import { loadCatalogue } from "../../judgement/runbooks/mod.ts";
import { openStore } from "../../store/mod.ts";
import { authenticatedWork, clientFor } from "../../runtime/temporal/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { TEST_NETWORK } from "../ledger/anchors/ots/_chain.ts";
import type { KillPoint } from "./_loop_bench.ts";

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
const worked = createActivities({
  ...platform,
  temporal: () => Promise.resolve(client),
  runbooks: loadCatalogue(config),
  engine: openEngine({ url: ENGINE_URL!, secret: ENGINE_SECRET!, timeoutMs: 30_000 }),
  stopping,
  network: TEST_NETWORK,
});
const sequencerStore = openStore(sequencerUrl!, "sequencer");
const activities = {
  ...worked,
  ...createSequencerActivities({ config, store: sequencerStore, stopping }),
};

let point: KillPoint | undefined;
type Work = (...args: unknown[]) => Promise<unknown>;
const deadly = Object.fromEntries(
  Object.entries(activities as unknown as Record<string, Work>).map(([name, work]) => [
    name,
    async (...args: unknown[]) => {
      if (point?.activity === name && point.when === "before") die();
      const result = await work(...args);
      if (point?.activity === name && point.when === "after") die();
      return result;
    },
  ]),
);
const connection = await NativeConnection.connect({ address });
const workers = await Promise.all(
  [itsmQueue, TASK_QUEUE.ledger, TASK_QUEUE.media, TASK_QUEUE.sequencer].map((taskQueue) =>
    Worker.create({
      connection,
      namespace,
      taskQueue,
      workflowBundle: { codePath: codePath! },
      activities: deadly,
      ...authenticatedWork(platform.store),
      reuseV8Context: true,
      debugMode: true, // workflows run in this thread, which saves half a second
      stickyQueueScheduleToStartTimeout: "1s",
      maxHeartbeatThrottleInterval: "1s",
    })
  ),
);
process.on("message", (message: "begin" | KillPoint) => {
  if (message !== "begin") point = message;
  else for (const worker of workers) void worker.run();
});
process.send!("ready");

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

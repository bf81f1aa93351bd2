/**
 * A worker that kills itself once, for tests of what a crash leaves behind:
 *
 *     node --import tsx _worker.ts <before|after> <activity> <mark>
 *
 * `before`: at the start of the activity; `after`: when it has done its work, and before that is reported. Where the
 * file `mark` exists it has happened already, and the worker is like any other.
 */
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Runtime, Worker } from "@temporalio/worker";
import { createActivities } from "../../activities/mod.ts";
import { loadConfig } from "../../config.ts";
import { openSealer } from "../../ledger/mod.ts";
import { openStore } from "../../store/mod.ts";
import { connectTemporal, connectWorker } from "../../temporal/mod.ts";

const [when, victim, mark] = process.argv.slice(2) as ["before" | "after", string, string];
const config = loadConfig(process.env);
const { SEALOOP_DATABASE_APP_URL: appUrl, SEALOOP_DATABASE_SEQUENCER_URL: sequencerUrl } =
  config.settings;
Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} } });
const store = openStore(appUrl!, "app");
const sequencerStore = openStore(sequencerUrl!, "sequencer");
const sealer = await openSealer(store);
const { client } = await connectTemporal(config);
const { connection, namespace } = await connectWorker(config);
const stopping = new AbortController().signal;
const activities = createActivities({
  config,
  store,
  sequencerStore,
  sealer,
  temporal: client,
  stopping,
});

function die(): void {
  if (existsSync(mark)) return;
  writeFileSync(mark, "");
  process.kill(process.pid, "SIGKILL");
}

type Work = (...args: unknown[]) => Promise<unknown>;
const deadly = Object.fromEntries(
  Object.entries(activities as unknown as Record<string, Work>).map(([name, work]) => [
    name,
    async (...args: unknown[]) => {
      if (name === victim && when === "before") die();
      const result = await work(...args);
      if (name === victim && when === "after") die();
      return result;
    },
  ]),
);
const workflowsPath = fileURLToPath(new URL("../../workflows/mod.ts", import.meta.url));
const common = {
  connection,
  namespace,
  activities: deadly,
  reuseV8Context: true,
  stickyQueueScheduleToStartTimeout: "1s",
} as const;
const bundled = process.env.WORKFLOW_BUNDLE
  ? { workflowBundle: { codePath: process.env.WORKFLOW_BUNDLE } }
  : { workflowsPath };
const workers = await Promise.all(
  ["itsm", "ledger"].map((taskQueue) =>
    Worker.create({ ...common, ...bundled, taskQueue, shutdownGraceTime: "1s" })
  ),
);
process.send?.("ready");
await Promise.all(workers.map((worker) => worker.run()));

/**
 * A worker that kills itself with SIGKILL at one point of its work, once: `KILL_AT=remediate:after` is when that
 * activity has done all of its work but has not reported it; `remediate:before` is before it does anything.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Runtime } from "@temporalio/worker";
import { createActivities } from "../../activities/mod.ts";
import { loadConfig } from "../../config.ts";
import { openSealer } from "../../ledger/mod.ts";
import { openWorkers } from "../../processes/_workers.ts";
import { openStore } from "../../store/mod.ts";

Runtime.install({
  logger: { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error },
  shutdownSignals: [],
});
const { KILL_AT = "", BUNDLE, ADDRESS: address, NAMESPACE: namespace } = process.env;
const [victim, moment] = KILL_AT.split(":");
const config = loadConfig(process.env);
const store = openStore(config.settings.SEALOOP_DATABASE_APP_URL!, "app", 10);
const sequencerStore = openStore(config.settings.SEALOOP_DATABASE_SEQUENCER_URL!, "sequencer", 2);
const connection = await Connection.connect({ address });
const activities = createActivities({
  ...{ config, store, sequencerStore },
  sealer: await openSealer(store),
  temporal: new Client({ connection, namespace }),
  stopping: new AbortController().signal,
});
await openWorkers({
  config,
  activities: Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [
      name,
      async (...args: never[]) => {
        if (name === victim && moment === "before") killOnce();
        const result = await (activity as (...args: never[]) => Promise<unknown>)(...args);
        if (name === victim && moment === "after") killOnce();
        return result;
      },
    ]),
  ),
  workflows: { workflowBundle: { codePath: BUNDLE! } },
  connect: async () => ({
    connection: await NativeConnection.connect({ address: address! }),
    namespace: namespace!,
  }),
  failed: (error) => {
    throw error;
  },
});
process.on("disconnect", () => process.exit()); // the test has gone
process.send?.("ready");

function killOnce(): void {
  const done = join(config.dataDir, "killed");
  if (existsSync(done)) return;
  writeFileSync(done, KILL_AT);
  process.kill(process.pid, "SIGKILL");
}

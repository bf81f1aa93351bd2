import { createSequencerActivities } from "../activities/mod.ts";
import { TASK_QUEUE } from "../domain/mod.ts";
import { openStore, WrongDatabaseRole } from "../store/mod.ts";
import {
  connectTemporal,
  connectWorker,
  ensureSequencer,
  installRuntime,
  keepWorkflowRunning,
  startWorkers,
} from "../temporal/mod.ts";
import { type ProcessParts, type RunningProcess, runProcess } from "./_process.ts";
import { openRetry } from "./_retry.ts";

await runProcess("sequencer", startSequencer);

/** Takes work from the sequencer's task queue. No other process has the key that signs receipts, or the right to append them. */
async function startSequencer({ config, log, databaseUrl }: ProcessParts): Promise<RunningProcess> {
  await installRuntime(log);
  const retry = openRetry(log, [WrongDatabaseRole]);
  const store = openStore(databaseUrl("sequencer"), "sequencer", 2);
  await retry("PostgreSQL", () => store.asPlatform().query("SELECT")); // refuses another role at once
  const temporal = await retry("Temporal", () => connectTemporal(config, store));
  await retry("Temporal", () => ensureSequencer(temporal.client));
  const stopping = new AbortController();
  const { signal } = stopping;
  const workers = await retry("Temporal", () =>
    startWorkers({
      config,
      taskQueues: [TASK_QUEUE.sequencer],
      activities: createSequencerActivities({ config, store, stopping: signal }),
      connect: () => connectWorker(config),
      onFailure: (err) => log.error({ err }, "The worker failed; connecting again"),
    }));
  const keeping = keepWorkflowRunning(temporal.client, ensureSequencer, signal);
  return {
    async stop() {
      stopping.abort();
      await Promise.all([workers.stop(), keeping]);
      await Promise.allSettled([temporal.close(), store.close()]);
    },
  };
}

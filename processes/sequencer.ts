import { createSequencerActivities } from "../activities/mod.ts";
import { TASK_QUEUE } from "../contract/domain/mod.ts";
import { usePollMetrics } from "../runtime/metrics/mod.ts";
import {
  connectTemporal,
  connectWorker,
  ensureSequencer,
  installRuntime,
  keepWorkflowRunning,
  startWorkers,
} from "../runtime/temporal/mod.ts";
import { checkDatabase } from "./_check_database.ts";
import { openProcessStore } from "./_open_store.ts";
import { type PresentParts, type RunningProcess, runProcess } from "./_process.ts";
import { openRetry } from "./_retry.ts";

/** The reason why a sequencer waits while another one seals. */
const ITS_TURN = "its turn to seal";

await runProcess("sequencer", startSequencer);

/** Takes work from the sequencer's task queue. No other process has the key that signs receipts, or the right to append them. */
async function startSequencer(parts: PresentParts): Promise<RunningProcess> {
  const { config, log, databaseUrl, presence, endProcess } = parts;
  await installRuntime(log, config.settings.SEALOOP_METRICS !== undefined);
  const retry = openRetry(log, presence.waitFor);
  presence.begin("sequencer", { role: "sequencer", url: databaseUrl("sequencer") });
  const store = openProcessStore(parts, "sequencer", 3);
  await retry("PostgreSQL", () => checkDatabase(store)); // refuses another role at once
  const temporal = await retry("Temporal", () => connectTemporal(config, store));
  await retry("Temporal", () => ensureSequencer(temporal.client));
  const stopping = new AbortController();
  const { signal } = stopping;
  let turn: string | null = ITS_TURN;
  const workers = await retry("Temporal", () =>
    startWorkers({
      config,
      taskQueues: [TASK_QUEUE.sequencer],
      store,
      activities: {
        [TASK_QUEUE.sequencer]: createSequencerActivities({
          config,
          store,
          stopping: signal,
          onSealing(isSealing) {
            turn = isSealing ? null : ITS_TURN;
            presence.waitFor(turn, "turn");
          },
          onStandbys(missing) {
            if (missing !== null) log.warn(`Nothing is committed: it waits for ${missing}`);
            presence.waitFor(missing ?? turn, missing === null ? "turn" : "standbys");
          },
        }),
      },
      connect: () => connectWorker(config),
      onFailure(err) {
        log.error({ err }, "The worker failed; connecting again");
        presence.waitFor("Temporal");
      },
      onStuck: endProcess,
    }));
  presence.tellPolls(workers.pollAges);
  usePollMetrics(workers.pollAges);
  presence.waitFor(turn, "turn");
  const keeping = keepWorkflowRunning(temporal.client, ensureSequencer, signal);
  return {
    async stop() {
      stopping.abort();
      await Promise.all([workers.stop(), keeping]);
      await Promise.allSettled([temporal.close(), store.close()]);
    },
  };
}

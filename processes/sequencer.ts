import { setTimeout as sleep } from "node:timers/promises";
import { createSequencerActivities, describeKeys } from "../activities/mod.ts";
import { TASK_QUEUE } from "../contract/domain/mod.ts";
import { findSignerProblem, reportSignerProblem, type SignerProblem } from "../ledger/mod.ts";
import { usePollMetrics } from "../runtime/metrics/mod.ts";
import {
  connectTemporal,
  connectWorker,
  ensureSequencer,
  installRuntime,
  keepWorkflowRunning,
  startWorkers,
  type Workers,
} from "../runtime/temporal/mod.ts";
import { checkDatabase } from "./_check_database.ts";
import { openProcessStore } from "./_open_store.ts";
import { type PresentParts, type RunningProcess, runProcess } from "./_process.ts";
import { openRetry } from "./_retry.ts";

/** The reason why a sequencer waits while another one seals. */
const ITS_TURN = "its turn to seal";
/** Pause until it is looked again whether this machine can sign. */
const ABLE_POLL_MS = 2_000;

await runProcess("sequencer", startSequencer);

/** Takes work from the sequencer's task queue. No other process has the key that signs receipts, or the right to append them. */
async function startSequencer(parts: PresentParts): Promise<RunningProcess> {
  const { config, log, databaseUrl, presence, tellOperator, endProcess } = parts;
  await installRuntime(log, config.settings.SEALOOP_METRICS !== undefined);
  const retry = openRetry(log, presence.waitFor);
  presence.begin("sequencer", { role: "sequencer", url: databaseUrl("sequencer") });
  const store = openProcessStore(parts, "sequencer", 3);
  await retry("PostgreSQL", () => checkDatabase(store)); // refuses another role at once
  const temporal = await retry("Temporal", () => connectTemporal(config, store));
  await retry("Temporal", () => ensureSequencer(temporal.client));
  const stopping = new AbortController();
  const { signal } = stopping;
  let workers: Workers | undefined;
  let told: string | undefined;
  const proof = { store, ...describeKeys(config) };
  const lack = await retry("PostgreSQL", () => findSignerProblem(proof));
  const starting = lack ? waitUntilAble(lack).then(takeTurns) : takeTurns();
  if (!lack) await starting;
  else starting.catch((error) => signal.aborted || endProcess(String(error)));
  const keeping = keepWorkflowRunning(temporal.client, ensureSequencer, signal);

  /**
   * Waits until this machine could sign the next receipt, and tells what it lacks. Nothing is polled meanwhile, so that
   * Temporal gives the turn to a machine that can seal.
   */
  async function waitUntilAble(first: SignerProblem): Promise<void> {
    let problem: SignerProblem | undefined = first;
    while (problem && !signal.aborted) {
      presence.waitFor(problem.waitsFor, problem.code);
      try {
        await tell(problem);
        await sleep(ABLE_POLL_MS, undefined, { signal }).catch(() => {});
        problem = await findSignerProblem(proof);
      } catch (err) {
        log.warn({ err }, "Cannot look whether this machine can sign; trying again");
        await sleep(ABLE_POLL_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Says once what this machine lacks. Where nobody else seals, that is why sealing is held. */
  async function tell(problem: SignerProblem): Promise<void> {
    const isHeld = await reportSignerProblem(proof, problem);
    const text = `${isHeld ? "Sealing is held" : "This standby can't sign"}. ${problem.says}`;
    if (told !== text) log[isHeld ? "error" : "warn"](told = text);
  }

  async function takeTurns(): Promise<void> {
    if (signal.aborted) return;
    let turn: string | null = ITS_TURN;
    workers = await retry("Temporal", () =>
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
            onUnable: ({ says }) => endProcess(`This machine can sign no more. ${says}`),
            onRefill: tellOperator,
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
  }

  return {
    async stop() {
      stopping.abort();
      await starting.catch(() => {});
      await Promise.all([workers?.stop(), keeping]);
      await Promise.allSettled([temporal.close(), store.close()]);
    },
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { BadServicesFile, detectorsFilePath, followServices, keepDiscoveringServices, readDetectorsFile } from "../detection/mod.ts";
import { approvable, createRunAct, createTaskCalls, createTraceCall, deliverUnheard, operations } from "../operations/mod.ts";
import { BadRunbook, keepDeletingOldData } from "../runbooks/mod.ts";
import { connectTemporal, connectWorker, ensureSequencer, ensureWebhookRelay, keepWorkflowsRunning, startWorkers, registerTemporal, sdkLogger } from "../temporal/mod.ts";
import { Runtime } from "@temporalio/worker";
import { loadCatalogue, createActivities, putInForce } from "../activities/mod.ts";
import { BadSetting } from "../config.ts";
import { openSealer } from "../ledger/mod.ts";
import { openStore } from "../store/mod.ts";
import { openConfiguredEngine } from "./_engine.ts";
import { openPlatform } from "./_platform.ts";
import { followGovernanceFile, governanceFileOf } from "../calls/governance/governance_file.ts";
import { misnamed } from "../calls/governance/names.ts";
import { type Parts, type Running, runProcess, SUPERVISED } from "./_process.ts";

const RETRY_MS = 1_000;

await runProcess("worker", startWorker);

/** Takes work from the task queues until it is asked to stop. */
async function startWorker({ config, log, databaseUrl }: Parts): Promise<Running> {
  const nothing = () => {};
  Runtime.install({
    logger: {
      ...{ log: nothing, trace: nothing, debug: nothing, info: nothing },
      ...{ warn: sdkLogger(log, "warn"), error: sdkLogger(log, "error") },
    },
    shutdownSignals: [],
  });
  const wait = <T>(what: string, work: () => Promise<T>) =>
    untilThere(work, (error) => log.warn({ err: error }, `${what} is away; trying again`));

  readDetectorsFile(detectorsFilePath(config)); // what is wrong with it is said now, and not by every sweep
  const store = openStore(databaseUrl("app"), "app", 20);
  const sequencerStore = openStore(databaseUrl("sequencer"), "sequencer", 2);
  const services = { config, store, together: process.argv.includes(SUPERVISED) };
  const runbooks = loadCatalogue(config);
  const openLocal = async () => {
    const servicesFile = await wait("PostgreSQL", () => followServices(services, log));
    await wait("PostgreSQL", () => putInForce(store, runbooks));
    const unfollow = await wait(
      "PostgreSQL",
      () => followGovernanceFile(governanceFileOf(config), store, log, misnamed),
    );
    return { servicesFile, unfollow };
  };
  const openTemporal = async () => {
    const temporal = await wait("Temporal", () => connectTemporal(config));
    const { client } = temporal;
    await wait("Temporal", () =>
      Promise.all([
        registerTemporal(client, config),
        ensureSequencer(client),
        ensureWebhookRelay(client),
      ]));
    return temporal;
  };
  // Each waits for its server most of the time.
  const [{ servicesFile, unfollow }, sealer, acts, temporal] = await Promise.all([
    openLocal(),
    wait("PostgreSQL", () => openSealer(store)),
    wait("PostgreSQL", () => openPlatform({ config, log, databaseUrl })),
    openTemporal(),
  ]);
  const stopping = new AbortController();
  const parts = {
    ...{ config, store, sequencerStore, sealer, runbooks },
    temporal: temporal.client,
    engine: openConfiguredEngine(config),
    runAct: createRunAct(acts.platform, approvable),
    traceCall: createTraceCall(acts.platform, approvable),
    calls: createTaskCalls(acts.platform, operations),
    deliverVoices: () => deliverUnheard(acts.platform),
    stopping: stopping.signal,
    refreshServices: servicesFile.refresh,
  };
  const workers = await wait("Temporal", () =>
    startWorkers({
      config,
      activities: createActivities(parts),
      connect: () => connectWorker(config),
      failed: (err) => log.error({ err }, "The workers failed; connecting again"),
    }));
  const forgetting = keepDeletingOldData({ config, store, log, signal: stopping.signal });
  const discovering = keepDiscoveringServices(services, log, stopping.signal);
  const running = keepWorkflowsRunning(temporal.client, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      servicesFile.stop();
      unfollow();
      await Promise.all([workers.stop(), discovering, forgetting, running]);
      await Promise.allSettled([temporal.close(), sealer.close(), acts.close()]);
      await Promise.allSettled([store.close(), sequencerStore.close()]);
    },
  };
}

/** Tries until it works. What the user has to mend is thrown at once. */
async function untilThere<T>(work: () => Promise<T>, away: (error: unknown) => void): Promise<T> {
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (
        error instanceof BadServicesFile || error instanceof BadRunbook ||
        error instanceof BadSetting
      ) throw error;
      away(error);
      await sleep(RETRY_MS);
    }
  }
}

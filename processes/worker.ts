import { setTimeout as sleep } from "node:timers/promises";
import { createActivities } from "../activities/mod.ts";
import { followGovernanceFile, governanceFileOf } from "../calls/governance/mod.ts";
import { BadSetting } from "../config.ts";
import {
  BadServicesFile,
  detectorsFilePath,
  followServices,
  keepDiscoveringServices,
  readDetectorsFile,
} from "../detection/mod.ts";
import { registry } from "../operations/mod.ts";
import { BadRunbook, keepDeletingOldData, loadCatalogue, putInForce } from "../runbooks/mod.ts";
import { openStore } from "../store/mod.ts";
import {
  connectTemporal,
  connectWorker,
  ensureSequencer,
  ensureWebhookRelay,
  installRuntime,
  keepWorkflowsRunning,
  registerTemporal,
  startWorkers,
} from "../temporal/mod.ts";
import { openPlatform } from "./_platform.ts";
import { type ProcessParts, type RunningProcess, runProcess, SUPERVISED } from "./_process.ts";

const RETRY_MS = 1_000;

await runProcess("worker", startWorker);

/** Takes work from the task queues until it is asked to stop. */
async function startWorker(parts: ProcessParts): Promise<RunningProcess> {
  const { config, log, databaseUrl } = parts;
  await installRuntime(log);
  const retry = <T>(server: string, work: () => Promise<T>) =>
    retryUntilThere(work, (error) => log.warn({ err: error }, `${server} is away; trying again`));

  readDetectorsFile(detectorsFilePath(config)); // refuses a wrong file now, and not in every sweep
  const runbooks = loadCatalogue(config);
  const [{ platform, close }, temporal] = await Promise.all([
    retry("PostgreSQL", () => openPlatform(parts)),
    retry("Temporal", () => connectTemporal(config)),
  ]);
  const { client } = temporal;
  await retry("Temporal", () =>
    Promise.all([
      registerTemporal(client, config),
      ensureSequencer(client),
      ensureWebhookRelay(client),
    ]));
  const { store } = platform;
  const services = { config, store, together: process.argv.includes(SUPERVISED) };
  const servicesFile = await retry("PostgreSQL", () => followServices(services, log));
  await retry("PostgreSQL", () => putInForce(store, runbooks));
  const governanceFile = await retry("PostgreSQL", () => {
    const operations = registry.values();
    return followGovernanceFile(governanceFileOf(config), { store, log, operations });
  });
  const sequencerStore = openStore(databaseUrl("sequencer"), "sequencer", 2);
  const stopping = new AbortController();
  const activities = createActivities({
    ...platform,
    temporal: () => Promise.resolve(client),
    sequencerStore,
    runbooks,
    stopping: stopping.signal,
    refreshServices: servicesFile.refresh,
  });
  const workers = await retry("Temporal", () =>
    startWorkers({
      config,
      activities,
      connect: () => connectWorker(config),
      onFailure: (err) => log.error({ err }, "The workers failed; connecting again"),
    }));
  const background = [
    keepDeletingOldData({ config, store, log, signal: stopping.signal }),
    keepDiscoveringServices(services, log, stopping.signal),
    keepWorkflowsRunning(client, stopping.signal),
  ];
  return {
    async stop() {
      stopping.abort();
      servicesFile.stop();
      governanceFile.stop();
      await Promise.all([workers.stop(), ...background]);
      await Promise.allSettled([temporal.close(), close(), sequencerStore.close()]);
    },
  };
}

/** Repeats work until it succeeds. An error that the operator has to mend is thrown at once. */
async function retryUntilThere<T>(
  work: () => Promise<T>,
  onAway: (error: unknown) => void,
): Promise<T> {
  while (true) {
    try {
      return await work();
    } catch (error) {
      const isOperators = error instanceof BadServicesFile || error instanceof BadRunbook ||
        error instanceof BadSetting;
      if (isOperators) throw error;
      onAway(error);
      await sleep(RETRY_MS);
    }
  }
}

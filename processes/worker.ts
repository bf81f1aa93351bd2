import {
  bringBackServices,
  createActivities,
  enrolPlace,
  type ReturnedService,
} from "../activities/mod.ts";
import { followScripts } from "../judgement/catalogue/mod.ts";
import { followGovernanceFile } from "../calls/governance/mod.ts";
import { receiveMail } from "../operations/mail/sending/mod.ts";
import { followModelFile } from "../operations/models/use/mod.ts";
import { followServices, keepDiscoveringServices } from "../judgement/detection/mod.ts";
import { keepExportingSpans } from "../integrations/observability/mod.ts";
import { watchManagedProcesses } from "../integrations/host/mod.ts";
import { keepReceivingMail } from "../integrations/mail/mod.ts";
import { warmParsers } from "../integrations/strangers/mod.ts";
import { registry } from "../operations/mod.ts";
import { followPeopleFile } from "../operations/people/mod.ts";
import { BadKeyFile } from "../ledger/mod.ts";
import { followRunbooks, keepDeletingOldData } from "../judgement/runbooks/mod.ts";
import { putPolicyFile } from "../judgement/guard/mod.ts";
import { followShieldFile } from "../judgement/shield/mod.ts";
import { usePlatformMetrics, usePollMetrics } from "../runtime/metrics/mod.ts";
import { TASK_QUEUE } from "../contract/domain/mod.ts";
import { getMetricFigures, reportPlace } from "../store/platform/mod.ts";
import {
  connectTemporal,
  connectWorker,
  ensureMailbox,
  ensureRelay,
  ensureRoutine,
  installRuntime,
  keepWorkflowRunning,
  listRoutines,
  listWorkerQueues,
  registerTemporal,
  startWorkers,
  sweepNow,
} from "../runtime/temporal/mod.ts";
import { openPlatform } from "./_platform.ts";
import { type PresentParts, type RunningProcess, runProcess, SUPERVISED } from "./_process.ts";
import { openRetry } from "./_retry.ts";
import { followReadFiles } from "./_settings_files.ts";
import { requireSharedSecrets } from "./_shared_secrets.ts";

await runProcess("worker", startWorker);

/** Takes work from the task queues until it is asked to stop. */
async function startWorker(parts: PresentParts): Promise<RunningProcess> {
  const { config, log, presence } = parts;
  await installRuntime(log, config.settings.SEALOOP_METRICS !== undefined);
  const retry = openRetry(log, presence.waitFor, [BadKeyFile]);
  presence.begin("worker", { role: "worker", url: parts.databaseUrl("worker") });

  const { platform, close } = await retry("PostgreSQL", () => openPlatform(parts, "worker"));
  const { store } = platform;
  await requireSharedSecrets(store, config, ["engine", "webhooks"]);
  usePlatformMetrics(() => getMetricFigures(store.asPlatform()));
  const temporal = await retry("Temporal", () => connectTemporal(config, store));
  const { client } = temporal;
  const hasMailbox = config.settings.SEALOOP_IMAP_URL !== undefined;
  await retry("Temporal", () =>
    Promise.all([
      registerTemporal(client, config),
      ensureRelay(client),
      ...(hasMailbox ? [ensureMailbox(client)] : []),
    ]));
  const taskQueues = listWorkerQueues(config);
  if (taskQueues.includes(TASK_QUEUE.act)) {
    await retry("PostgreSQL", () => reportPlace(store.asPlatform(), config.place));
    await retry("PostgreSQL", () => enrolPlace(platform));
  }
  const services = { config, store, together: process.argv.includes(SUPERVISED) };
  const servicesFile = await followServices(services, log);
  const follower = { config, store, log };
  const runbooks = await followRunbooks(follower);
  const files = [
    servicesFile,
    runbooks,
    await followScripts(follower),
    await followGovernanceFile({ ...follower, operations: registry.values() }),
    await putPolicyFile(follower),
    await followShieldFile(follower),
    await followModelFile(follower),
    await followPeopleFile(follower),
    ...await followReadFiles(follower, { puts: true }),
  ];
  warmParsers();
  const stopping = new AbortController();
  const activities = createActivities({
    ...platform,
    temporal: () => Promise.resolve(client),
    runbooks: runbooks.current,
    stopping: stopping.signal,
    refreshServices: servicesFile.refresh,
  });
  const returned = await retry("PostgreSQL", () => bringBackServices(platform));
  for (const line of describeReturned(returned)) {
    log.info(line);
    parts.tellOperator(line);
  }
  const workers = await retry("Temporal", () =>
    startWorkers({
      config,
      taskQueues,
      activities,
      store,
      connect: () =>
        connectWorker(config).then((connection) => {
          presence.waitFor(null);
          return connection;
        }),
      onFailure(err) {
        log.error({ err }, "The workers failed; connecting again");
        presence.waitFor("Temporal");
      },
      onStuck: parts.endProcess,
    }));
  presence.tellPolls(workers.pollAges);
  usePollMetrics(workers.pollAges);
  const stopWatching = watchManagedProcesses(config.dataDir, {
    onEnd({ name }) {
      log.info({ name }, "The process of a service has ended; looking at once");
      sweepNow(client).catch((err) => log.warn({ err }, "Could not look at once"));
    },
    onTrouble: (err) => log.warn({ err }, "Cannot hear of the end of processes; sweeps find it"),
  });
  const receiving = { ...platform, temporal: () => Promise.resolve(client) };
  const background = [
    keepDeletingOldData({ config, store, log, signal: stopping.signal }),
    keepDiscoveringServices(services, log, stopping.signal),
    keepReceivingMail({
      config,
      log,
      signal: stopping.signal,
      onMail: (mail) => receiveMail(receiving, mail),
    }),
    keepWorkflowRunning(client, ensureRelay, stopping.signal),
    ...listRoutines(config).map((routine) =>
      keepWorkflowRunning(client, (client) => ensureRoutine(client, routine), stopping.signal)
    ),
    ...(platform.exporter
      ? [keepExportingSpans({
        exporter: platform.exporter,
        db: store.asPlatform(),
        log,
        signal: stopping.signal,
      })]
      : []),
    ...(hasMailbox ? [keepWorkflowRunning(client, ensureMailbox, stopping.signal)] : []),
  ];
  return {
    async stop() {
      stopping.abort();
      stopWatching();
      for (const file of files) file.stop();
      await Promise.all([workers.stop(), ...background]);
      await Promise.allSettled([temporal.close(), close()]);
    },
  };
}

/** Describes the services that ended together with the platform: those that are back, held, and not healthy. */
function describeReturned(returned: readonly ReturnedService[]): string[] {
  const list = (wanted: string) =>
    returned.filter(({ code }) => code === wanted).map(({ name }) => name).join(", ");
  const up = list("up");
  const held = list("held");
  const faulty = returned.filter(({ code }) => code !== "up" && code !== "held")
    .map(({ name, code }) => `${name} (${code})`).join(", ");
  return [
    ...(up ? [`Started again, as the last stop had ended them: ${up}`] : []),
    ...(held ? [`Not started again, as repairs are held back: ${held}`] : []),
    ...(faulty ? [`Started again, and not healthy: ${faulty}`] : []),
  ];
}

import { join } from "node:path";
import { Runtime } from "@temporalio/worker";
import { createActivities } from "../activities/mod.ts";
import type { Config } from "../config.ts";
import { readServicesFile } from "../integrations/mod.ts";
import { openSealer } from "../ledger/mod.ts";
import { openStore, replaceServices, type Store, transaction } from "../store/mod.ts";
import { connectTemporal, connectWorker, registerTemporal } from "../temporal/mod.ts";
import { platformServices } from "./_platform_services.ts";
import { type Parts, type Running, runProcess } from "./_process.ts";
import { createWorkers } from "./_workers.ts";

/** Takes work from the task queues until it is asked to stop. */
async function startWorker({ config, log, databaseUrl }: Parts): Promise<Running> {
  Runtime.install({ logger: { ...quiet, log: () => {} }, shutdownSignals: [] });
  const store = openStore(databaseUrl("app"), "app", 20);
  const sequencerStore = openStore(databaseUrl("sequencer"), "sequencer", 2);
  await syncServices(config, store);
  const sealer = await openSealer(store);
  const temporal = await connectTemporal(config);
  await registerTemporal(temporal.client, config);
  const { connection, namespace } = await connectWorker(config);
  const parts = { config, store, sequencerStore, sealer, temporal: temporal.client };
  const activities = createActivities(parts);
  const workers = await createWorkers({ config, connection, namespace, activities });
  const running = workers.map((worker) => worker.run());
  Promise.all(running).catch((err) => {
    log.fatal({ err }, "The worker failed");
    process.exit(1);
  });
  return {
    async stop() {
      for (const worker of workers) worker.shutdown();
      await Promise.allSettled(running);
      await Promise.allSettled([connection.close(), temporal.close(), sealer.close()]);
      await Promise.allSettled([store.close(), sequencerStore.close()]);
    },
  };
}

const nothing = () => {};
const quiet = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: console.warn,
  error: console.error,
};

/** Makes the services of the store those of the platform and of the user's file. */
async function syncServices(config: Config, store: Store): Promise<void> {
  const platform = platformServices(config);
  const path = config.settings.SEALOOP_SERVICES ?? join(config.dataDir, "sealoop.services.yaml");
  const file = readServicesFile(path, platform.map(({ name }) => name));
  await transaction(store, async (trx) => {
    await replaceServices(trx, "platform", platform);
    await replaceServices(
      trx,
      "file",
      file.map((entry) => ({
        name: entry.name,
        type: entry.type,
        host: entry.host,
        owner: entry.owner ?? null,
        origin: "file" as const,
        check: entry.check ?? null,
        restart: entry.restart ?? null,
        watched: true,
        dependsOn: entry.depends_on,
      })),
    );
  });
}

await runProcess("worker", startWorker);

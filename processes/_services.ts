import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { discover, hostInGraph, readServicesFile } from "../integrations/mod.ts";
import {
  replaceRunbookValues,
  replaceServices,
  type ServiceRecord,
  type Store,
  transaction,
} from "../store/mod.ts";
import { temporalPlace } from "../temporal/mod.ts";
import { platformServices, withHosts } from "./_platform_services.ts";

/** Between looks at what listens on this host, milliseconds. */
const LOOK_MS = 60_000;

/** What the services of a platform depend on. */
export interface Services {
  readonly config: Config;
  readonly store: Store;
  /** Whether all parts were started together, on this host. */
  readonly together: boolean;
}

/**
 * Makes the declared services of the store those of the platform and of the user's file.
 *
 * @throws {BadServicesFile} the user's file is wrong
 */
export async function syncServices({ config, store, together }: Services): Promise<void> {
  const platform = platformServices(config, {
    database: new URL(store.url),
    temporal: temporalPlace(config).address,
    together,
  });
  const path = config.settings.SEALOOP_SERVICES ?? join(config.dataDir, "sealoop.services.yaml");
  const entries = readServicesFile(path, platform.map(({ name }) => name));
  const file = entries.map(({ depends_on, runbook_values: _, ...entry }): ServiceRecord => ({
    ...{ ...entry, origin: "file", watched: true, dependsOn: depends_on },
    owner: entry.owner ?? null,
    check: entry.check ?? null,
    restart: entry.restart ?? null,
  }));
  const values = entries.flatMap(({ name, runbook_values }) =>
    runbook_values ? [[name, runbook_values] as const] : []
  );
  const services = withHosts([...platform, ...file]);
  const of = (wanted: string) => services.filter(({ origin }) => origin === wanted);
  await transaction(store, async (trx) => {
    await replaceServices(trx, "platform", of("platform"));
    await replaceServices(trx, "file", of("file"));
    await replaceRunbookValues(trx, Object.fromEntries(values));
  });
}

/** Keeps the store told of what else listens on this host, until it is asked to stop. */
export async function keepDiscovering(
  { config, store, together }: Services,
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  const host = hostInGraph(together);
  while (!stopping.aborted) {
    try {
      await discover(config, store, host);
    } catch (err) {
      log.warn({ err }, "Could not tell the graph what listens on this host; trying again");
    }
    await sleep(LOOK_MS, undefined, { signal: stopping, ref: false }).catch(() => {});
  }
}

import { join } from "node:path";
import { followFile } from "../integrations/files/mod.ts";
import { discoverServices, graphHostName } from "../integrations/host/mod.ts";
import {
  replaceRunbookValues,
  replaceServices,
  type ServiceRecord,
  type Store,
} from "../store/mod.ts";
import { BadServicesFile, readServicesFile } from "./services_file.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { locateTemporal } from "../temporal/mod.ts";
import { platformServices, withHosts } from "./_platform_services.ts";

/** Between looks at what listens on this host, milliseconds. */
const LOOK_MS = 60_000;

/** What the services of a platform depend on. */
export interface ServicesContext {
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
export async function syncServices({ config, store, together }: ServicesContext): Promise<void> {
  const platform = platformServices(config, {
    database: new URL(store.url),
    temporal: locateTemporal(config).address,
    together,
  });
  const entries = readServicesFile(pathOf(config), platform.map(({ name }) => name));
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
  await store.asPlatform().transaction(async (trx) => {
    await replaceServices(trx, "platform", of("platform"));
    await replaceServices(trx, "file", of("file"));
    await replaceRunbookValues(trx, Object.fromEntries(values));
  });
}

function pathOf({ settings, dataDir }: Config): string {
  return settings.SEALOOP_SERVICES ?? join(dataDir, "sealoop.services.yaml");
}

/** The services file, while it is being followed. */
export interface FollowedServices {
  /**
   * Puts the file in force where it has changed.
   *
   * @returns code of why the file as it is now is not in force, such as `services_file_line_3`; undefined: it is
   */
  refresh(): Promise<string | undefined>;
  stop(): void;
}

/**
 * Puts the services of the platform and of the user's file in force, and the file's again after each change. A new version
 * that is wrong is refused and logged: the old one stays in force. A file that is removed changes nothing until the next
 * start.
 *
 * @throws {BadServicesFile} the file is wrong now
 */
export async function followServices(
  services: ServicesContext,
  log: Logger,
): Promise<FollowedServices> {
  let isInForce = false;
  let problem: string | undefined;
  const followed = await followFile({
    path: pathOf(services.config),
    name: "services file",
    log,
    async apply(exists) {
      if (isInForce && !exists) return;
      try {
        await syncServices(services);
      } catch (error) {
        if (error instanceof BadServicesFile) problem = problemCode(error);
        throw error;
      }
      problem = undefined;
      if (isInForce) log.info("The services file has changed and is in force");
      isInForce = true;
    },
  });
  return {
    stop: () => followed.stop(),
    async refresh() {
      await followed.refresh();
      return problem;
    },
  };
}

function problemCode({ message }: BadServicesFile): string {
  return `services_file_line_${/ line (\d+):/.exec(message)?.[1] ?? 1}`;
}

/** Keeps the store told of what else listens on this host, until it is asked to stop. */
export async function keepDiscoveringServices(
  { config, store, together }: ServicesContext,
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  const host = graphHostName(together);
  while (!stopping.aborted) {
    try {
      await discoverServices(config, store, host);
    } catch (err) {
      log.warn({ err }, "Could not tell the graph what listens on this host; trying again");
    }
    await sleep(LOOK_MS, undefined, { signal: stopping, ref: false }).catch(() => {});
  }
}

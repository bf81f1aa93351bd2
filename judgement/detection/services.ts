import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { type FileSource, fileSource } from "../../integrations/files/mod.ts";
import { discoverServices, graphHostName, setOnStop } from "../../integrations/host/mod.ts";
import { followSettingsFile } from "../../integrations/settings_files/mod.ts";
import { type Db, inTenant, type Store } from "../../store/mod.ts";
import { replaceRunbookValues } from "../../store/catalogue/mod.ts";
import { ensureTenant, listWatchedTenants } from "../../store/keys/mod.ts";
import {
  type ForeignService,
  listServicesOfPlaces,
  lockServices,
  replaceServices,
  type ServiceRecord,
} from "../../store/cmdb/mod.ts";
import { listPlaces } from "../../store/platform/mod.ts";
import { locateTemporal } from "../../runtime/temporal/mod.ts";
import { placedKey, type Placing } from "./_places_of_entries.ts";
import { addHostEdges, listPlatformServices } from "./_platform_services.ts";
import { publishNames } from "./public_services.ts";
import { BadServicesFile, readServicesFile, type ServiceEntry } from "./services_file.ts";

const DISCOVERY_INTERVAL_MS = 60_000;

/** Surroundings of the services. */
export interface ServicesContext {
  readonly config: Config;
  readonly store: Store;
  /** True: all parts of the platform were started together, on this host. */
  readonly together: boolean;
}

/**
 * Replaces what this worker has declared in the store by the services of the platform and of the user's file. A file that
 * is missing takes back nothing.
 *
 * @returns services of the files of other workers
 * @throws {BadServicesFile} the user's file is wrong
 */
async function syncServices(
  { config, store, together }: ServicesContext,
): Promise<readonly ForeignService[]> {
  const platform = listPlatformServices(config, {
    database: new URL(store.url),
    temporal: locateTemporal(config).address,
    together,
  });
  const path = servicesFilePath(config);
  const source = fileSource(path);
  return await store.asPlatform().transaction(async (trx) => {
    await lockServices(trx);
    const known = platform.map(({ name }) => name);
    const entries = readServicesFile(path, known, await readPlacing(trx, config));
    for (const { name, on_stop = "keep" } of entries) setOnStop(config.dataDir, name, on_stop);
    const foreign: ForeignService[] = [];
    const named = entries.map(({ tenant }) => tenant);
    for (const tenant of new Set([...await listWatchedTenants(trx), ...named])) {
      await ensureTenant(trx, tenant);
      const own = entries.filter((entry) => entry.tenant === tenant);
      const declared = tenant === PLATFORM_TENANT ? platform : [];
      foreign.push(
        ...await inTenant(
          trx,
          tenant,
          (owner) => replaceDeclared(owner, { source, place: config.place }, declared, own),
        ),
      );
    }
    return foreign;
  });
}

/** Reads which places there are, and which services the files of the others list. */
async function readPlacing(trx: Db, { place: own, settings }: Config): Promise<Placing> {
  const seconds = settings.SEALOOP_PLACE_AWAY_SECONDS;
  const others = (await listPlaces(trx))
    .filter(({ name, silent_seconds }) => name !== own && silent_seconds < seconds)
    .map(({ name }) => name);
  const listedElsewhere = new Map<string, string>();
  if (others.length > 0) {
    for (const tenant of await listWatchedTenants(trx)) {
      const listed = await inTenant(trx, tenant, (owner) => listServicesOfPlaces(owner, others));
      for (const { name, place } of listed) {
        listedElsewhere.set(placedKey({ tenant, name }), place);
      }
    }
  }
  return { own, places: [own, ...others], listedElsewhere };
}

/** Replaces the declared services of one tenant. */
async function replaceDeclared(
  trx: Db,
  { source, place }: { readonly source: FileSource; readonly place: string },
  platform: readonly ServiceRecord[],
  entries: readonly ServiceEntry[],
): Promise<readonly ForeignService[]> {
  const services = addHostEdges([...platform, ...entries.map(toRecord)])
    .map((service) => ({ ...service, declaredAt: place }));
  const ofOrigin = (wanted: string) => services.filter(({ origin }) => origin === wanted);
  const values = entries.flatMap(({ name, runbook_values }) =>
    runbook_values ? [[name, runbook_values] as const] : []
  );
  await replaceServices(trx, "platform", ofOrigin("platform"), source.name);
  if (!source.exists) return [];
  await replaceRunbookValues(trx, Object.fromEntries(values), source.name);
  const foreign = await replaceServices(trx, "file", ofOrigin("file"), source.name);
  const names = entries.flatMap((one) => one.public ? [[one.name, one.public] as const] : []);
  await publishNames(trx, new Map(names), source.name);
  return foreign;
}

function toRecord(
  { tenant: _, depends_on, runbook_values: __, public: ___, on_stop, place, ...entry }:
    ServiceEntry,
): ServiceRecord {
  return {
    ...entry,
    atPlace: place ?? null,
    origin: "file",
    watched: true,
    dependsOn: depends_on,
    owner: entry.owner ?? null,
    check: entry.check ?? null,
    restart: restartOf({ restart: entry.restart, on_stop }),
  };
}

/** Returns how a service is restarted, with what becomes of its process when the platform is stopped. */
function restartOf({ restart, on_stop }: Pick<ServiceEntry, "restart" | "on_stop">) {
  if (!restart || !on_stop || !("process" in restart)) return restart ?? null;
  return { process: { ...restart.process, on_stop } };
}

/** Returns the path of the file. */
export function servicesFilePath({ settings, dataDir }: Config): string {
  return settings.SEALOOP_SERVICES ?? join(dataDir, "sealoop.services.yaml");
}

/** Reads the file as a worker of `npm start` does, and puts nothing in force. @throws {BadServicesFile} */
export function checkServicesFile(config: Config): void {
  const database = new URL("postgres://127.0.0.1");
  const temporal = locateTemporal(config).address;
  const platform = listPlatformServices(config, { database, temporal, together: true });
  readServicesFile(servicesFilePath(config), platform.map(({ name }) => name));
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
 * that is wrong is refused and logged: the old one stays in force. A file that is missing or removed changes nothing; one
 * without services takes back what it had brought.
 */
export async function followServices(
  services: ServicesContext,
  log: Logger,
): Promise<FollowedServices> {
  let isInForce = false;
  let problem: string | undefined;
  const path = servicesFilePath(services.config);
  const file = {
    name: "services",
    path,
    async apply(exists: boolean) {
      if (isInForce && !exists) return;
      if (!exists) {
        log.info({ path }, "There is no services file here; what such files have brought stays");
      }
      try {
        logForeign(await syncServices(services), path, log);
      } catch (error) {
        if (error instanceof BadServicesFile) problem = problemCode(error);
        throw error;
      }
      problem = undefined;
      if (isInForce) log.info("The services file has changed and is in force");
      isInForce = true;
    },
  } as const;
  const followed = await followSettingsFile(file, services.store, log);
  const tryAgain = async () => {
    await file.apply(true).catch((error) => {
      if (!(error instanceof BadServicesFile)) throw error;
    });
  };
  return {
    stop: () => followed.stop(),
    async refresh() {
      await followed.refresh();
      if (problem !== undefined) await tryAgain(); // another place may have given up what this one lists
      return problem;
    },
  };
}

/** Tells what the files of other workers have brought. */
function logForeign(foreign: readonly ForeignService[], path: string, log: Logger): void {
  for (const source of new Set(foreign.map((service) => service.source))) {
    const ofSource = foreign.filter((service) => service.source === source);
    const replaced = ofSource.filter((service) => service.replaced).map(({ name }) => name);
    const stay = ofSource.filter((service) => !service.replaced).map(({ name }) => name);
    const counted = { path, source, replaced, stay };
    if (replaced.length === 0) log.info(counted, "Services of another file stay in force");
    else log.warn(counted, "This services file replaces services of another file");
  }
}

function problemCode({ mistakes: [first] }: BadServicesFile): string {
  return `services_file_line_${first?.line ?? 1}`;
}

/** Keeps adding the programs that listen on this host to the graph, until the signal. */
export async function keepDiscoveringServices(
  { config, store, together }: ServicesContext,
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  const host = graphHostName(config, together);
  while (!stopping.aborted) {
    try {
      await discoverServices(config, store, host);
    } catch (err) {
      log.warn({ err }, "Could not look for services on this host; trying again");
    }
    await sleep(DISCOVERY_INTERVAL_MS, undefined, { signal: stopping, ref: false }).catch(() => {});
  }
}

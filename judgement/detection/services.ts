import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { type FileSource, settingsFilePath } from "../../integrations/files/mod.ts";
import { discoverServices, graphHostName, setOnStop } from "../../integrations/host/mod.ts";
import { followSettingsFile } from "../../integrations/settings_files/mod.ts";
import { type Db, inTenant, type Store } from "../../store/mod.ts";
import { replaceRunbookValues } from "../../store/catalogue/mod.ts";
import { ensureTenant, listWatchedTenants } from "../../store/keys/mod.ts";
import {
  type ListedService,
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
 * Replaces what this place has declared in the store by the services of the platform and of its services file in force. One
 * that is missing takes back nothing.
 *
 * @param path of what is in force
 * @throws {BadServicesFile} it can't be in force beside what other places have
 */
async function syncServices(
  { config, store, together }: ServicesContext,
  path: string,
  exists: boolean,
): Promise<void> {
  const platform = listPlatformServices(config, {
    database: new URL(store.url),
    temporal: locateTemporal(config).address,
    together,
  });
  const source = { name: config.place, exists };
  await store.asPlatform().transaction(async (trx) => {
    await lockServices(trx);
    const known = platform.map(({ name }) => name);
    const entries = readServicesFile(path, known, await readPlacing(trx, config));
    for (const { name, on_stop = "keep" } of entries) setOnStop(config.dataDir, name, on_stop);
    const named = entries.map(({ tenant }) => tenant);
    for (const tenant of new Set([...await listWatchedTenants(trx), ...named])) {
      await ensureTenant(trx, tenant);
      const own = entries.filter((entry) => entry.tenant === tenant);
      const declared = tenant === PLATFORM_TENANT ? platform : [];
      await inTenant(
        trx,
        tenant,
        (owner) => replaceDeclared(owner, { source, place: config.place }, declared, own),
      );
    }
  });
}

/** Reads which places there are, and which services the files of the others list. */
async function readPlacing(trx: Db, { place: own, settings }: Config): Promise<Placing> {
  const seconds = settings.SEALOOP_PLACE_AWAY_SECONDS;
  const others = (await listPlaces(trx))
    .filter(({ name, silent_seconds }) => name !== own && silent_seconds < seconds)
    .map(({ name }) => name);
  const listedElsewhere = new Map<string, ListedService>();
  if (others.length > 0) {
    for (const tenant of await listWatchedTenants(trx)) {
      const listed = await inTenant(trx, tenant, (owner) => listServicesOfPlaces(owner, others));
      for (const one of listed) listedElsewhere.set(placedKey({ tenant, name: one.name }), one);
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
): Promise<void> {
  const services = addHostEdges([...platform, ...entries.map(toRecord)])
    .map((service) => ({ ...service, declaredAt: place }));
  const ofOrigin = (wanted: string) => services.filter(({ origin }) => origin === wanted);
  const values = entries.flatMap(({ name, runbook_values }) =>
    runbook_values ? [[name, runbook_values] as const] : []
  );
  await replaceServices(trx, "platform", ofOrigin("platform"), source.name);
  if (!source.exists) return;
  await replaceRunbookValues(trx, Object.fromEntries(values), source.name);
  await replaceServices(trx, "file", ofOrigin("file"), source.name);
  const names = entries.flatMap((one) => one.public ? [[one.name, one.public] as const] : []);
  await publishNames(trx, new Map(names), source.name);
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

/** Reads the file as a worker of `npm start` does, and puts nothing in force. @throws {BadServicesFile} */
export function checkServicesFile(config: Config): void {
  const database = new URL("postgres://127.0.0.1");
  const temporal = locateTemporal(config).address;
  const platform = listPlatformServices(config, { database, temporal, together: true });
  readServicesFile(settingsFilePath(config, "services"), platform.map(({ name }) => name));
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
 * Puts the services of the platform and of the services file in force, and the file's again after each change, as
 * {@linkcode followSettingsFile} does. A new version that is wrong is refused and logged: the old one stays in force. A file
 * that is missing or removed changes nothing; one without services takes back what it had brought.
 */
export async function followServices(
  services: ServicesContext,
  log: Logger,
): Promise<FollowedServices> {
  const { config, store } = services;
  let problem: string | undefined;
  const noting = async (work: () => Promise<unknown>) => {
    try {
      await work();
      problem = undefined;
    } catch (error) {
      if (error instanceof BadServicesFile) problem = problemCode(error);
      throw error;
    }
  };
  const file = {
    name: "services",
    check: (path: string) => noting(() => checkBesideOthers(services, path)),
    apply: (path: string, exists: boolean) => noting(() => syncServices(services, path, exists)),
  } as const;
  const followed = await followSettingsFile(file, { config, store, log });
  return {
    stop: () => followed.stop(),
    async refresh() {
      await followed.refresh(); // another place may have given up what this one lists
      return problem;
    },
  };
}

/** Reads the file of this machine as it would be in force beside what other places have. @throws {BadServicesFile} */
async function checkBesideOthers(
  { config, store, together }: ServicesContext,
  path: string,
): Promise<void> {
  const known = listPlatformServices(config, {
    database: new URL(store.url),
    temporal: locateTemporal(config).address,
    together,
  });
  const placing = await readPlacing(store.asPlatform(), config);
  readServicesFile(path, known.map(({ name }) => name), placing);
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

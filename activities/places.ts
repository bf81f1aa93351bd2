import { ANY_PLACE, type Finding } from "../contract/domain/mod.ts";
import { joinIncidents } from "../judgement/detection/mod.ts";
import { getService } from "../store/cmdb/mod.ts";
import { getFinding } from "../store/incidents/mod.ts";
import type { Db } from "../store/mod.ts";
import { getSilentSeconds, listPlaces } from "../store/platform/mod.ts";
import type { ActivityParts } from "./parts.ts";

/** A place in a sweep. */
interface SweepPlace {
  readonly place: string;
  /** True: this one also looks at what belongs to no place. */
  readonly shared: boolean;
}

/** A look for the workers of a place. */
interface PlaceLook {
  /** True: it has had none for so long that nothing waits for it any more. */
  readonly away: boolean;
  /** Time until the next look. */
  readonly next_look_ms: number;
}

const MIN_LOOK_MS = 5_000;

/** Creates the activities that tell where others are done. */
export function placeActivities({ config, store }: ActivityParts) {
  const { place: own, settings: { SEALOOP_PLACE_AWAY_SECONDS: awaySeconds } } = config;

  /**
   * Finds the place of a service, or of a recorded fault; for what belongs to none, the first one that has a worker. Safe to
   * repeat: it only reads.
   */
  async function findPlace(
    { service, fingerprint }: {
      readonly service: string | null;
      readonly fingerprint: string | null;
    },
  ): Promise<{ readonly place: string }> {
    const declared = service === null ? undefined : (await getService(store.db, service))?.place;
    if (declared && declared !== ANY_PLACE) return { place: declared };
    const found = fingerprint === null ? undefined : await getFinding(store.db, fingerprint);
    return { place: found?.place || await firstPresent(store.db) };
  }

  /** Looks whether a place has a worker, and how long to wait for one. Safe to repeat: it only reads. */
  async function lookForPlace(place: string): Promise<PlaceLook> {
    const silent = await getSilentSeconds(store.db, place);
    const leftMs = Math.ceil((awaySeconds - silent) * 1_000);
    return { away: leftMs <= 0, next_look_ms: Math.max(MIN_LOOK_MS, leftMs) };
  }

  /** Lists the places that have a worker, for a sweep. Safe to repeat: it only reads. */
  async function listSweepPlaces(): Promise<SweepPlace[]> {
    const shared = await firstPresent(store.db);
    const present = await listPresent(store.db);
    return [...new Set([shared, ...present])].map((place) => ({ place, shared: place === shared }));
  }

  /**
   * Makes one incident of those that places have found, where one has probably caused the other. Safe to repeat: the same
   * incidents are joined alike.
   */
  async function joinPlaces(incidents: readonly Finding[]): Promise<Finding[]> {
    const tenantOf = ({ tenant_id }: Finding) => tenant_id ?? store.tenant;
    const tenants = [...new Set(incidents.map(tenantOf))];
    const shared = await firstPresent(store.db);
    const joined = await Promise.all(tenants.map(async (tenant) => {
      const found = incidents.filter((one) => tenantOf(one) === tenant);
      return await joinIncidents(store.forTenant(tenant), found, shared);
    }));
    return joined.flat();
  }

  async function listPresent(db: Db): Promise<string[]> {
    return (await listPlaces(db)).filter(({ silent_seconds }) => silent_seconds < awaySeconds)
      .map(({ name }) => name);
  }

  /** The same for all that ask, as long as no place comes or goes. Without any, the work waits for this one. */
  async function firstPresent(db: Db): Promise<string> {
    return (await listPresent(db))[0] ?? own;
  }

  return { findPlace, lookForPlace, listSweepPlaces, joinPlaces };
}

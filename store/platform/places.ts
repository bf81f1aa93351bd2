import type { Db } from "../connection.ts";

/** A place: a machine on which the platform acts. */
export interface PlaceRecord {
  readonly name: string;
  /** Seconds since one of its workers was heard. */
  readonly silent_seconds: number;
}

/** Time after which a place that nobody hears counts no more. */
const FORGET = "1 day";

/** Registers a place, or tells that one of its workers is there. */
export async function reportPlace(db: Db, name: string): Promise<void> {
  await db.execute(
    `INSERT INTO places (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET heard_at = clock_timestamp()`,
    [name],
  );
}

/** Lists the places that were heard within a day, by name. */
export async function listPlaces(db: Db): Promise<PlaceRecord[]> {
  return await db.query<PlaceRecord>(
    `SELECT name, greatest(0, extract(epoch FROM clock_timestamp() - heard_at))::float8 AS silent_seconds
     FROM places WHERE heard_at > clock_timestamp() - $1::interval ORDER BY name`,
    [FORGET],
  );
}

/**
 * Lists the places that have not been heard for so many seconds, longest first. One that was not heard for a day is forgotten,
 * unless a service of the tenant is at it.
 */
export async function listSilentPlaces(db: Db, seconds: number): Promise<PlaceRecord[]> {
  return await db.query<PlaceRecord>(
    `SELECT name, extract(epoch FROM clock_timestamp() - heard_at)::float8 AS silent_seconds
     FROM places WHERE heard_at <= clock_timestamp() - make_interval(secs => $1)
       AND (heard_at > clock_timestamp() - $2::interval
         OR EXISTS (SELECT FROM services s WHERE place_of(s) = places.name))
     ORDER BY heard_at, name`,
    [seconds, FORGET],
  );
}

/** Returns whether a place of this name was ever registered. */
export async function isPlace(db: Db, name: string): Promise<boolean> {
  return await db.first("SELECT name FROM places WHERE name = $1", [name]) !== undefined;
}

/** Returns the seconds since a worker of a place was heard; infinite: none ever was. */
export async function getSilentSeconds(db: Db, name: string): Promise<number> {
  const row = await db.first<{ readonly seconds: number }>(
    `SELECT greatest(0, extract(epoch FROM clock_timestamp() - heard_at))::float8 AS seconds
     FROM places WHERE name = $1`,
    [name],
  );
  return row?.seconds ?? Infinity;
}

/** Returns the public key that is enrolled for a place, as hex; undefined: none is. */
export async function getPlaceKey(db: Db, name: string): Promise<string | undefined> {
  const row = await db.first<{ readonly public_key: string | null }>(
    "SELECT public_key FROM places WHERE name = $1",
    [name],
  );
  return row?.public_key ?? undefined;
}

/** Notes the public key of a place, unless there is one. @returns false: there is one */
export async function notePlaceKey(db: Db, name: string, publicKey: string): Promise<boolean> {
  return await db.execute(
    `INSERT INTO places (name, public_key) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET public_key = EXCLUDED.public_key WHERE places.public_key IS NULL`,
    [name, publicKey],
  ) > 0;
}

/** Forgets the public key of a place, as its owner has it enrolled anew. @returns false: none was noted */
export async function forgetPlaceKey(db: Db, name: string): Promise<boolean> {
  return await db.execute(
    "UPDATE places SET public_key = NULL WHERE name = $1 AND public_key IS NOT NULL",
    [name],
  ) > 0;
}

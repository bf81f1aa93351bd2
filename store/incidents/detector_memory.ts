/** State that detectors keep from one sweep to the next. */
import type { Db } from "../connection.ts";

/** Results of the last probes of a service. */
export interface ProbeHistory {
  readonly service: string;
  /** A character a probe, oldest first: `u` up, `s` up but slow, `d` down. */
  readonly looks: string;
  readonly flapping: boolean;
  /** Milliseconds that a probe takes which passes and is not slow; null: none has passed. */
  readonly usualMs: number | null;
  /** Milliseconds by which such a probe is usually off that; null: fewer than two have passed. */
  readonly spreadMs: number | null;
}

/** Results to store. */
export interface NewProbeHistory extends Omit<ProbeHistory, "usualMs" | "spreadMs"> {
  /** Milliseconds of the newest probe; null: it has not passed, or slowly, and changes nothing of what is usual. */
  readonly elapsedMs: number | null;
}

/** Share of the newest probe in what is usual. */
const NEWEST_SHARE = 0.1;

/** Returns the histories of all services that were ever probed, by name. */
export async function getProbeHistories(db: Db): Promise<Map<string, ProbeHistory>> {
  const rows = await db.query<ProbeHistory>(
    `SELECT service, looks, flapping, usual_ms AS "usualMs", spread_ms AS "spreadMs" FROM probe_history`,
  );
  return new Map(rows.map((row) => [row.service, row]));
}

/** Stores histories. Those of services that were removed meanwhile are dropped. */
export async function putProbeHistories(
  db: Db,
  histories: readonly NewProbeHistory[],
): Promise<void> {
  if (histories.length === 0) return;
  await db.execute(
    `INSERT INTO probe_history AS h (service, looks, flapping, usual_ms)
     SELECT name, looks, flapping, elapsed
     FROM unnest($1::text[], $2::text[], $3::boolean[], $4::float8[]) AS n (name, looks, flapping, elapsed)
     JOIN services USING (name) ORDER BY name
     ON CONFLICT (tenant_id, service) DO UPDATE SET looks = excluded.looks, flapping = excluded.flapping,
       spread_ms = coalesce(h.spread_ms + $5 * (abs(excluded.usual_ms - h.usual_ms) - h.spread_ms),
         abs(excluded.usual_ms - h.usual_ms), h.spread_ms),
       usual_ms = coalesce(h.usual_ms + $5 * (excluded.usual_ms - h.usual_ms), excluded.usual_ms, h.usual_ms)`,
    [
      histories.map(({ service }) => service),
      histories.map(({ looks }) => looks),
      histories.map(({ flapping }) => flapping),
      histories.map(({ elapsedMs }) => elapsedMs),
      NEWEST_SHARE,
    ],
  );
}

/** Returns how far a log was read and what was learnt from it; undefined: it was never read. */
export async function getLogPlace<Place, State>(
  db: Db,
  host: string,
  path: string,
): Promise<{ place: Place; state: State } | undefined> {
  return await db.first(
    "SELECT place, state FROM log_places WHERE host = $1 AND path = $2",
    [host, path],
  );
}

/** Stores how far a log was read and what was learnt from it. */
export async function putLogPlace(
  db: Db,
  { host, path, place, state }: {
    readonly host: string;
    readonly path: string;
    readonly place: unknown;
    readonly state: unknown;
  },
): Promise<void> {
  await db.execute(
    `INSERT INTO log_places (host, path, place, state) VALUES ($1, $2, $3, $4)
     ON CONFLICT (tenant_id, host, path) DO UPDATE SET place = excluded.place, state = excluded.state, updated_at = now()`,
    [host, path, JSON.stringify(place), JSON.stringify(state)],
  );
}

/** Deletes what is stored of the logs in a folder, on all hosts. @param folder absolute */
export async function deleteLogPlaces(db: Db, folder: string): Promise<void> {
  await db.execute("DELETE FROM log_places WHERE starts_with(path, $1)", [`${folder}/`]);
}

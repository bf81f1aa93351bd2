/** State that detectors keep from one sweep to the next. */
import type { Db } from "../connection.ts";

/** Results of the last probes of a service. */
export interface ProbeHistory {
  readonly service: string;
  /** A character a probe, oldest first: `u` up, `s` up but slow, `d` down. */
  readonly looks: string;
  readonly flapping: boolean;
}

/** Returns the histories of all services that were ever probed, by name. */
export async function getProbeHistories(db: Db): Promise<Map<string, ProbeHistory>> {
  const rows = await db.query<{ service: string; looks: string; flapping: boolean }>(
    "SELECT service, looks, flapping FROM probe_history",
  );
  return new Map(rows.map((row) => [row.service, row]));
}

/** Stores histories. Those of services that were removed meanwhile are dropped. */
export async function putProbeHistories(
  db: Db,
  histories: readonly ProbeHistory[],
): Promise<void> {
  if (histories.length === 0) return;
  await db.execute(
    `INSERT INTO probe_history (service, looks, flapping)
     SELECT name, looks, flapping FROM unnest($1::text[], $2::text[], $3::boolean[]) AS n (name, looks, flapping)
     JOIN services USING (name) ORDER BY name
     ON CONFLICT (tenant_id, service) DO UPDATE SET looks = excluded.looks, flapping = excluded.flapping`,
    [
      histories.map(({ service }) => service),
      histories.map(({ looks }) => looks),
      histories.map(({ flapping }) => flapping),
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

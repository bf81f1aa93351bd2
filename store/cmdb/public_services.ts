import type { Db } from "../connection.ts";
import type { ProbeResult } from "./services.ts";

/** A service that is named in public. */
interface PublicService {
  /** `SVC-…`. */
  readonly id: string;
  readonly name: string;
}

/** A change of what is public: a name that is new, another one, or withdrawn. */
interface PublicNameChange extends PublicService {
  readonly published: boolean;
}

/** Sightings of a public service in a period. */
export interface ObservedPeriod {
  readonly id: string;
  readonly from: Date;
  readonly to: Date;
  readonly probes: number;
  readonly failed: number;
  /** Time between probes that were no further apart than allowed, ms. */
  readonly observedMs: number;
  /** The part of it between probes that both found it healthy. */
  readonly upMs: number;
}

/** Longest time between two probes that counts as observed. */
export const MAX_GAP_MS = 120_000;
/** Length of a period. */
const PERIOD = "1 hour";

/**
 * Makes the public names of a services file exactly these, all or nothing. A service keeps its public id, also where it was
 * private meanwhile.
 *
 * @param names service → public name
 * @param source of the file; services that other files have brought stay as they are
 * @param newId makes the id of a service that was never public
 * @returns what has changed
 */
export async function replacePublicNames(
  trx: Db,
  names: ReadonlyMap<string, string>,
  source: string,
  newId: () => string,
): Promise<PublicNameChange[]> {
  const [services, publicNames] = [[...names.keys()], [...names.values()]];
  const withdrawn = await trx.query<PublicService & { published: boolean }>(
    `UPDATE public_services p SET published = false WHERE published AND service <> ALL ($1::text[])
       AND NOT EXISTS (SELECT FROM services s WHERE s.name = p.service AND s.source <> $2)
     RETURNING id, name, published`,
    [services, source],
  );
  const published = await trx.query<PublicService & { published: boolean }>(
    `INSERT INTO public_services AS p (service, id, name)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
     ON CONFLICT (tenant_id, service) DO UPDATE SET name = excluded.name, published = true
     WHERE NOT p.published OR p.name <> excluded.name
     RETURNING id, name, published`,
    [services, services.map(newId), publicNames],
  );
  return [...withdrawn, ...published];
}

/** Returns the public name of a service; undefined: it is private. */
export async function getPublicService(
  db: Db,
  service: string | null,
): Promise<PublicService | undefined> {
  return await db.first<{ id: string; name: string }>(
    "SELECT id, name FROM public_services WHERE service = $1 AND published",
    [service],
  );
}

/**
 * Adds what probes have seen of public services, and takes the periods that are over, each once. Only the time between two
 * probes that are close to each other is observed; it is up where both found it healthy.
 */
export async function recordObservations(
  trx: Db,
  results: readonly ProbeResult[],
): Promise<ObservedPeriod[]> {
  if (results.length === 0) return [];
  const ended = await trx.query(
    `WITH ended AS (
       SELECT * FROM public_services
       WHERE since IS NOT NULL AND service = ANY ($1::text[]) AND (since < now() - interval '${PERIOD}'
         OR (since AT TIME ZONE 'UTC')::date <> (now() AT TIME ZONE 'UTC')::date)
       FOR UPDATE
     ), emptied AS (
       UPDATE public_services p SET since = NULL, probes = 0, failed = 0, observed_ms = 0, up_ms = 0
       FROM ended WHERE p.service = ended.service
     )
     SELECT id, since, until, probes, failed, observed_ms::float8 AS observed, up_ms::float8 AS up FROM ended ORDER BY id`,
    [results.map(({ name }) => name)],
  );
  await trx.execute(
    `WITH seen AS (
       SELECT p.service, r.healthy, extract(epoch FROM now() - p.until) * 1000 AS gap
       FROM public_services p JOIN unnest($1::text[], $2::boolean[]) AS r (name, healthy) ON r.name = p.service
       WHERE p.published
     )
     UPDATE public_services p SET
       since = coalesce(p.since, CASE WHEN seen.gap <= $3
         AND (p.until AT TIME ZONE 'UTC')::date = (now() AT TIME ZONE 'UTC')::date THEN p.until ELSE now() END),
       until = now(), healthy = seen.healthy, probes = p.probes + 1,
       failed = p.failed + CASE WHEN seen.healthy THEN 0 ELSE 1 END,
       observed_ms = p.observed_ms + CASE WHEN seen.gap <= $3 THEN round(seen.gap) ELSE 0 END,
       up_ms = p.up_ms + CASE WHEN seen.gap <= $3 AND p.healthy AND seen.healthy THEN round(seen.gap) ELSE 0 END
     FROM seen WHERE p.service = seen.service`,
    [results.map(({ name }) => name), results.map(({ healthy }) => healthy), MAX_GAP_MS],
  );
  return ended.map(({ id, since, until, probes, failed, observed, up }) => ({
    id,
    from: since,
    to: until,
    probes,
    failed,
    observedMs: observed,
    upMs: up,
  }));
}

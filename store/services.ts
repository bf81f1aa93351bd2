import type { Dependency } from "./cmdb.ts";
import type { Queryable } from "./connection.ts";

/** Where a service comes from: the platform itself, the user's file, a test incident, or a look at what listens. */
export type Origin = "platform" | "file" | "test" | "discovered";

/** A port that a service is to listen on. */
export interface DeclaredPort {
  readonly port: number;
  /** Name of the program that is to hold it; null: any. */
  readonly program: string | null;
}

/** A service as the store knows it. `Check` and `Restart` are what the integrations make of the JSON. */
export interface ServiceRecord<Check = unknown, Restart = unknown> {
  readonly name: string;
  readonly type: string;
  readonly host: string;
  readonly owner: string | null;
  readonly origin: Origin;
  readonly check: Check | null;
  readonly restart: Restart | null;
  /** Id of its own runbook. */
  readonly runbook?: string | null;
  /** Ports besides that of its check. */
  readonly ports?: readonly DeclaredPort[];
  readonly watched: boolean;
  readonly dependsOn: readonly Dependency[];
}

/** What a probe says of a service. */
export interface Sighting {
  readonly name: string;
  readonly healthy: boolean;
}

/** Adds services, or changes them to what they are now. What they need must be there, or be one of them. */
export async function putServices(
  on: Queryable,
  services: readonly ServiceRecord[],
): Promise<void> {
  const rows = services.map(({ dependsOn: _, check, runbook, ports, ...service }) => ({
    ...service,
    health_check: check,
    runbook: runbook ?? null,
    ports: ports ?? [],
  }));
  await on.raw(
    `INSERT INTO services (name, type, host, owner, origin, health_check, restart, runbook, ports, watched)
     SELECT name, type, host, owner, origin, nullif(health_check, 'null'), nullif(restart, 'null'), runbook, ports, watched
     FROM jsonb_to_recordset(?::jsonb) AS s (name text, type text, host text, owner text, origin text,
       health_check jsonb, restart jsonb, runbook text, ports jsonb, watched boolean) ORDER BY name
     ON CONFLICT (name) DO UPDATE SET (type, host, owner, origin, health_check, restart, runbook, ports, watched, updated_at)
       = (excluded.type, excluded.host, excluded.owner, excluded.origin, excluded.health_check, excluded.restart,
          excluded.runbook, excluded.ports, excluded.watched, now())`,
    [JSON.stringify(rows)],
  );
  const edges = services.flatMap(({ name, dependsOn }) =>
    dependsOn.map(({ service, kind }) => ({ source: name, target: service, kind }))
  );
  await on.raw(
    `DELETE FROM service_edges WHERE source IN (SELECT id FROM services WHERE name = ANY (?::text[]))`,
    [services.map(({ name }) => name)],
  );
  await on.raw(
    `INSERT INTO service_edges (source, target, kind)
     SELECT DISTINCT a.id, b.id, e.kind FROM jsonb_to_recordset(?::jsonb) AS e (source text, target text, kind text)
     JOIN services a ON a.name = e.source JOIN services b ON b.name = e.target`,
    [JSON.stringify(edges)],
  );
}

/** Adds a service, or changes it to what it is now. What it needs must be there. */
export async function putService(on: Queryable, service: ServiceRecord): Promise<void> {
  await putServices(on, [service]);
}

/** Makes the services of one origin exactly these. */
export async function replaceServices(
  on: Queryable,
  origin: "platform" | "file",
  services: readonly ServiceRecord[],
): Promise<void> {
  await on.raw(`DELETE FROM services WHERE origin = ? AND name <> ALL (?::text[])`, [
    origin,
    services.map(({ name }) => name),
  ]);
  await putServices(on, services);
}

/** Removes a service. */
export async function removeService(on: Queryable, name: string): Promise<void> {
  await on("services").where({ name }).delete();
}

/** A service by name, or undefined. */
export async function getService(on: Queryable, name: string): Promise<ServiceRecord | undefined> {
  const { rows: [row] } = await on.raw(
    `SELECT s.*, ARRAY(
       SELECT json_build_object('service', t.name, 'kind', kind) FROM service_edges e
       JOIN services t ON t.id = e.target WHERE e.source = s.id ORDER BY t.name, kind
     ) AS needs FROM services s WHERE name = ?`,
    [name],
  );
  return row && fromRow(row, row.needs);
}

/** Every service that has a check and is watched; first those that were not looked at for the longest time. */
export async function watchedServices(on: Queryable): Promise<ServiceRecord[]> {
  const rows = await on("services").where({ watched: true }).whereNotNull("health_check")
    .orderBy("checked_at", "asc", "first").orderBy("name");
  return rows.filter((row) => row.health_check !== null).map((row) => fromRow(row, []));
}

/** Names of all services, or of those among the asked ones that there are. */
export async function serviceNames(on: Queryable, asked?: readonly string[]): Promise<string[]> {
  const query = on("services").pluck("name");
  return await (asked ? query.whereIn("name", [...asked]) : query);
}

/** Names of the services of test incidents. */
export async function testServiceNames(on: Queryable): Promise<string[]> {
  return await on("services").where({ origin: "test" }).pluck("name");
}

/** Notes what was seen. @returns name → failed probes in a row, 0 where it is up */
export async function noteSightings(
  on: Queryable,
  sightings: readonly Sighting[],
): Promise<Map<string, number>> {
  if (sightings.length === 0) return new Map();
  const { rows } = await on.raw(
    `UPDATE services s SET status = CASE WHEN seen.healthy THEN 'up' ELSE 'down' END,
       failures = CASE WHEN seen.healthy THEN 0 ELSE s.failures + 1 END, checked_at = now()
     FROM unnest(?::text[], ?::boolean[]) AS seen (name, healthy) WHERE s.name = seen.name
     RETURNING s.name, s.failures`,
    [sightings.map((s) => s.name), sightings.map((s) => s.healthy)],
  );
  return new Map(rows.map((row: { name: string; failures: number }) => [row.name, row.failures]));
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function fromRow(row: any, dependsOn: Dependency[]): ServiceRecord {
  const { name, type, host, owner, origin, health_check, restart, runbook, ports, watched } = row;
  return {
    ...{ name, type, host, owner, origin, check: health_check, restart, runbook, ports, watched },
    dependsOn,
  };
}

import type { Dependency } from "./cmdb.ts";
import type { Queryable } from "./connection.ts";

/** Where a service comes from: the platform itself, the user's file, a test incident, or a look at what listens. */
export type ServiceOrigin = "platform" | "file" | "test" | "discovered";

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
  readonly origin: ServiceOrigin;
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
export interface ProbeResult {
  readonly name: string;
  readonly healthy: boolean;
}

const COLUMNS = "type, host, owner, origin, health_check, restart, runbook, ports, watched";
const all = (of: string) => `(${COLUMNS.split(", ").map((name) => `${of}.${name}`).join(", ")})`;
const GIVEN =
  `jsonb_to_recordset(?::jsonb) AS given (name text, type text, host text, owner text, origin text,
  health_check jsonb, restart jsonb, runbook text, ports jsonb, watched boolean)`;

/**
 * Adds services, or changes them to what they are now; a discovered one changes none that is declared. What they need
 * must be there, or be one of them: an edge to a service that is not is left out.
 */
export async function putServices(
  on: Queryable,
  services: readonly ServiceRecord[],
): Promise<void> {
  const rows = JSON.stringify(services.map(({ dependsOn: _, check, runbook, ports, ...rest }) => ({
    ...rest,
    health_check: check,
    runbook: runbook ?? null,
    ports: ports ?? [],
  })));
  await on.raw(
    `INSERT INTO services (name, ${COLUMNS})
     SELECT name, type, host, owner, origin, nullif(health_check, 'null'), nullif(restart, 'null'), runbook, ports, watched
     FROM ${GIVEN} ORDER BY name
     ON CONFLICT (name) DO UPDATE SET (${COLUMNS}) = ${all("excluded")}, updated_at = now(),
       status = CASE WHEN services.origin = excluded.origin THEN services.status ELSE 'unknown' END
     WHERE ${all("services")} IS DISTINCT FROM ${all("excluded")}
       AND (excluded.origin <> 'discovered' OR services.origin = 'discovered')`,
    [rows],
  );
  const edges = services.flatMap(({ name, origin, dependsOn }) =>
    dependsOn.map(({ service, kind }) => ({ source: name, origin, target: service, kind }))
  );
  await on.raw(
    `DELETE FROM service_edges WHERE source IN
       (SELECT s.id FROM services s JOIN ${GIVEN} ON s.name = given.name AND s.origin = given.origin)`,
    [rows],
  );
  await on.raw(
    `INSERT INTO service_edges (source, target, kind)
     SELECT DISTINCT a.id, b.id, e.kind
     FROM jsonb_to_recordset(?::jsonb) AS e (source text, origin text, target text, kind text)
     JOIN services a ON a.name = e.source AND a.origin = e.origin JOIN services b ON b.name = e.target`,
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

/**
 * Makes the discovered services of a host exactly these, as far as no declared service has the name. Those of hosts
 * that nobody has looked at for a quarter of an hour are removed as well.
 */
export async function putDiscoveredServices(
  on: Queryable,
  host: string,
  services: readonly ServiceRecord[],
): Promise<void> {
  const names = services.map(({ name }) => name);
  await putServices(on, services);
  await on.raw(
    `UPDATE services SET status = 'up', checked_at = now()
     WHERE origin = 'discovered' AND name = ANY (?::text[])`,
    [names],
  );
  await on.raw(
    `DELETE FROM services WHERE origin = 'discovered'
     AND (host = ? AND name <> ALL (?::text[]) OR checked_at < now() - interval '15 minutes')`,
    [host, names],
  );
}

/** A declared service, as far as it is about ports. */
export type ServiceWithPorts = Pick<ServiceRecord, "name" | "host" | "check"> & {
  readonly ports: readonly DeclaredPort[];
};

/** Every declared service that has a check or ports. */
export async function listServicesWithPorts(on: Queryable): Promise<ServiceWithPorts[]> {
  return await on("services").select("name", "host", "ports", { check: "health_check" })
    .whereNot({ origin: "discovered" })
    .whereRaw("(health_check IS NOT NULL OR ports <> '[]')")
    .orderBy("name");
}

/** Removes a service. */
export async function removeService(on: Queryable, name: string): Promise<void> {
  await on("services").where({ name }).delete();
}

/** A service by name, or undefined. */
export async function getService(on: Queryable, name: string): Promise<ServiceRecord | undefined> {
  const { rows: [row] } = await on.raw(
    `SELECT s.name, s.type, s.host, s.owner, s.origin, s.health_check, s.restart, s.runbook, s.ports, s.watched, ARRAY(
       SELECT json_build_object('service', t.name, 'kind', kind) FROM service_edges e
       JOIN services t ON t.id = e.target WHERE e.source = s.id ORDER BY t.name, kind
     ) AS needs FROM services s WHERE name = ?`,
    [name],
  ).options({ name: "service_by_name" }); // to plan it takes longer than to answer it
  return row && fromRow(row, row.needs);
}

/** Every service that has a check and is watched; first those that were not looked at for the longest time. */
export async function listWatchedServices(on: Queryable): Promise<ServiceRecord[]> {
  const rows = await on("services").where({ watched: true }).whereNotNull("health_check")
    .orderBy("checked_at", "asc", "first").orderBy("name");
  return rows.filter((row) => row.health_check !== null).map((row) => fromRow(row, []));
}

/** Names of all services, or of those among the asked ones that there are. */
export async function listServiceNames(on: Queryable, asked?: readonly string[]): Promise<string[]> {
  const query = on("services").pluck("name");
  return await (asked ? query.whereIn("name", [...asked]) : query);
}

/** Names of the services of test incidents. */
export async function listTestServiceNames(on: Queryable): Promise<string[]> {
  return await on("services").where({ origin: "test" }).pluck("name");
}

/** Notes what was seen. @returns name → failed probes in a row, 0 where it is up */
export async function recordProbeResults(
  on: Queryable,
  sightings: readonly ProbeResult[],
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

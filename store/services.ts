import type { Queryable } from "./connection.ts";

/** A service as the store knows it. `Check` and `Restart` are what the integrations make of the JSON. */
export interface ServiceRecord<Check = unknown, Restart = unknown> {
  readonly name: string;
  readonly type: string;
  readonly host: string;
  readonly owner: string | null;
  readonly origin: "platform" | "file" | "test";
  readonly check: Check | null;
  readonly restart: Restart | null;
  readonly watched: boolean;
  readonly dependsOn: readonly string[];
}

/** What a probe says of a service. */
export interface Sighting {
  readonly name: string;
  readonly healthy: boolean;
}

/** Adds a service, or changes it to what it is now. Its dependencies must be there. */
export async function putService(on: Queryable, service: ServiceRecord): Promise<void> {
  const { name, type, host, owner, origin, check, restart, watched, dependsOn } = service;
  await on("services").insert({
    name,
    type,
    host,
    owner,
    origin,
    health_check: JSON.stringify(check),
    restart: JSON.stringify(restart),
    watched,
  }).onConflict("name").merge({
    type,
    host,
    owner,
    origin,
    health_check: JSON.stringify(check),
    restart: JSON.stringify(restart),
    watched,
    updated_at: on.fn.now(),
  });
  await on("service_dependencies").where({ service: name }).delete();
  if (dependsOn.length > 0) {
    await on("service_dependencies").insert(
      dependsOn.map((depends_on) => ({ service: name, depends_on })),
    );
  }
}

/** Makes the services of one origin exactly these. */
export async function replaceServices(
  on: Queryable,
  origin: "platform" | "file",
  services: readonly ServiceRecord[],
): Promise<void> {
  await on("services").where({ origin }).whereNotIn("name", services.map((s) => s.name)).delete();
  for (const service of services) await putService(on, { ...service, dependsOn: [] });
  for (const service of services) await putService(on, service);
}

/** Removes a service. */
export async function removeService(on: Queryable, name: string): Promise<void> {
  await on("services").where({ name }).delete();
}

/** A service by name, or undefined. */
export async function getService(on: Queryable, name: string): Promise<ServiceRecord | undefined> {
  const { rows: [row] } = await on.raw(
    `SELECT *, ARRAY(SELECT depends_on FROM service_dependencies WHERE service = name) AS needs
     FROM services WHERE name = ?`,
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

/** Names of all services. */
export async function serviceNames(on: Queryable): Promise<string[]> {
  return await on("services").pluck("name");
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
function fromRow(row: any, dependsOn: string[]): ServiceRecord {
  const { name, type, host, owner, origin, health_check, restart, watched } = row;
  return { name, type, host, owner, origin, check: health_check, restart, watched, dependsOn };
}

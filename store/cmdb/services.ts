import { ANY_PLACE } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";
import type { Dependency } from "./service_graph.ts";

/** Where a service comes from: the platform, the user's file, a test incident, or a port that something listens on. */
export type ServiceOrigin = "platform" | "file" | "test" | "discovered";

/** A port that a service should listen on. */
export interface DeclaredPort {
  readonly port: number;
  /** Name of the program that should hold it; null: any. */
  readonly program: string | null;
}

/** A service. `Check` and `Restart` are the types that the integrations parse the JSON into. */
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
  /** The place whose services file has brought it. */
  readonly source?: string;
  /** Place that its entry names, or `any`; absent: that of its host, or else of its file. */
  readonly atPlace?: string | null;
  /** Place whose worker brought it. */
  readonly declaredAt?: string;
  /** Place at which it is looked at and acted on, as it is read; `any`: at whichever. */
  readonly place?: string;
  /** `up`, `down` or `unknown` by the last probe, as it is read. */
  readonly status?: string;
  readonly dependsOn: readonly Dependency[];
}

/** Result of one probe of a service. */
export interface ProbeResult {
  readonly name: string;
  readonly healthy: boolean;
}

/**
 * Adds or changes services, with their dependencies, all or nothing. A discovered service changes none that is declared.
 * Dependencies on services that don't exist are left out.
 */
export async function putServices(db: Db, services: readonly ServiceRecord[]): Promise<void> {
  const records = services.map((
    { dependsOn: _, check, runbook, ports, source, atPlace, declaredAt, ...rest },
  ) => ({
    ...rest,
    at_place: atPlace ?? null,
    declared_at: declaredAt ?? "",
    health_check: check,
    runbook: runbook ?? null,
    ports: ports ?? [],
    source: source ?? "",
  }));
  await db.transaction(async (trx) => {
    await trx.execute(
      `INSERT INTO services (name, type, host, owner, origin, source, at_place, declared_at, health_check, restart, runbook,
         ports, watched)
       SELECT name, type, host, owner, origin, source, at_place, declared_at, nullif(health_check, 'null'),
         nullif(restart, 'null'), runbook, ports, watched
       FROM jsonb_to_recordset($1) AS r (name text, type text, host text, owner text, origin text, source text,
         at_place text, declared_at text, health_check jsonb, restart jsonb, runbook text, ports jsonb, watched boolean)
       ORDER BY name
       ON CONFLICT (tenant_id, name) DO UPDATE SET type = excluded.type, host = excluded.host, owner = excluded.owner,
         origin = excluded.origin, source = excluded.source, at_place = excluded.at_place,
         declared_at = excluded.declared_at, health_check = excluded.health_check, restart = excluded.restart,
         runbook = excluded.runbook, ports = excluded.ports, watched = excluded.watched, updated_at = now(),
         status = CASE WHEN services.origin = excluded.origin THEN services.status ELSE 'unknown' END
       WHERE (excluded.origin <> 'discovered' OR services.origin = 'discovered')
         AND (services.type, services.host, services.owner, services.origin, services.source, services.at_place,
           services.declared_at, services.health_check, services.restart, services.runbook, services.ports, services.watched)
         IS DISTINCT FROM (excluded.type, excluded.host, excluded.owner, excluded.origin, excluded.source,
           excluded.at_place, excluded.declared_at, excluded.health_check, excluded.restart, excluded.runbook,
           excluded.ports, excluded.watched)`,
      [JSON.stringify(records)],
    );
    await replaceDependencies(trx, services);
  });
}

/** Adds or changes a service, with its dependencies. */
export async function putService(db: Db, service: ServiceRecord): Promise<void> {
  await putServices(db, [service]);
}

/** Replaces the dependencies of services, except those that are stored with another origin. */
async function replaceDependencies(trx: Db, services: readonly ServiceRecord[]): Promise<void> {
  await trx.execute(
    `DELETE FROM service_edges WHERE source IN (
       SELECT s.id FROM services s JOIN unnest($1::text[], $2::text[]) AS n (name, origin) USING (name, origin))`,
    [services.map(({ name }) => name), services.map(({ origin }) => origin)],
  );
  const edges = services.flatMap(({ name, origin, dependsOn }) =>
    dependsOn.map(({ service, kind }) => ({ source: name, origin, target: service, kind }))
  );
  await trx.execute(
    `INSERT INTO service_edges (source, target, kind)
     SELECT DISTINCT a.id, b.id, e.kind
     FROM jsonb_to_recordset($1) AS e (source text, origin text, target text, kind text)
     JOIN services a ON a.name = e.source AND a.origin = e.origin
     JOIN services b ON b.name = e.target`,
    [JSON.stringify(edges)],
  );
}

/**
 * Makes the services that one services file brings exactly these, all or nothing. Those that other files have brought
 * stay, unless this one has a service of the same name.
 */
export async function replaceServices(
  db: Db,
  origin: "platform" | "file",
  services: readonly ServiceRecord[],
  source: string = "",
): Promise<void> {
  const names = services.map(({ name }) => name);
  await db.transaction(async (trx) => {
    await trx.execute(
      "DELETE FROM services WHERE origin = $1 AND source = $3 AND name <> ALL ($2::text[])",
      [origin, names, source],
    );
    await putServices(trx, services.map((service) => ({ ...service, source })));
  });
}

/**
 * Makes the discovered services of a host exactly these, except those whose name a declared service has. Removes
 * discovered services of any host that nobody has seen for 15 minutes.
 */
export async function putDiscoveredServices(
  db: Db,
  host: string,
  services: readonly ServiceRecord[],
): Promise<void> {
  const names = services.map(({ name }) => name);
  await db.transaction(async (trx) => {
    await putServices(trx, services);
    await trx.execute(
      `UPDATE services SET status = 'up', checked_at = now()
       WHERE origin = 'discovered' AND name = ANY ($1::text[])`,
      [names],
    );
    await trx.execute(
      `DELETE FROM services WHERE origin = 'discovered'
       AND (host = $1 AND name <> ALL ($2::text[]) OR checked_at < now() - interval '15 minutes')`,
      [host, names],
    );
  });
}

/** A declared service with a check or ports. */
export type ServiceWithPorts = Pick<ServiceRecord, "name" | "host" | "check"> & {
  readonly ports: readonly DeclaredPort[];
};

/** Returns the declared services that have a check or ports, by name. */
export async function listServicesWithPorts(db: Db): Promise<ServiceWithPorts[]> {
  return await db.query(
    `SELECT name, host, ports, health_check AS "check" FROM services
     WHERE origin <> 'discovered' AND (health_check IS NOT NULL OR ports <> '[]') ORDER BY name`,
  );
}

/** Number of the advisory lock of the services that files bring. */
const LOCK = 1936029302;

/** Keeps other workers from putting their services in force until the end of the transaction. */
export async function lockServices(trx: Db): Promise<void> {
  await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
}

/** A service as the file of a place lists it. */
export interface ListedService {
  readonly name: string;
  /** Place of the file. */
  readonly listedBy: string;
  readonly host: string;
  /** Place that its entry names; null: none. */
  readonly place: string | null;
  readonly check: unknown;
  readonly restart: unknown;
}

/** Returns the services of a tenant that the files of these places list. */
export async function listServicesOfPlaces(
  db: Db,
  places: readonly string[],
): Promise<ListedService[]> {
  return await db.query<ListedService & Row>(
    `SELECT name, declared_at AS "listedBy", host, at_place AS place, health_check AS "check", restart
     FROM services WHERE origin = 'file' AND declared_at = ANY ($1::text[])`,
    [places],
  );
}

/** Returns whether a service may be looked at from a place: it belongs to it, or to none. */
export function isAtPlace({ place = "" }: Pick<ServiceRecord, "place">, own: string): boolean {
  return place === own || place === "" || place === ANY_PLACE;
}

/** Removes a service. */
export async function removeService(db: Db, name: string): Promise<void> {
  await db.execute("DELETE FROM services WHERE name = $1", [name]);
}

/** Prepared, as planning it takes longer than running it. */
const BY_NAME = {
  name: "service_by_name",
  text: `SELECT s.*, place_of(s) AS place, ARRAY(
      SELECT json_build_object('service', t.name, 'kind', kind) FROM service_edges e
      JOIN services t ON t.id = e.target WHERE e.source = s.id ORDER BY t.name, kind
    ) AS needs
    FROM services s WHERE name = $1`,
};

/** Returns a service by name, or undefined. */
export async function getService(db: Db, name: string): Promise<ServiceRecord | undefined> {
  const row = await db.first(BY_NAME, [name]);
  return row && toService(row, row.needs);
}

/**
 * Returns the watched services that have a check, without dependencies; those first whose last probe is the oldest.
 *
 * @param places of which; absent: of all
 */
export async function listWatchedServices(
  db: Db,
  places?: readonly string[],
): Promise<ServiceRecord[]> {
  const rows = await db.query(
    `SELECT s.*, place_of(s) AS place FROM services s
     WHERE watched AND health_check IS NOT NULL AND ($1::text[] IS NULL OR place_of(s) = ANY ($1))
     ORDER BY checked_at NULLS FIRST, name`,
    [places],
  );
  return rows.map((row) => toService(row, []));
}

/** A declared service with its check. */
export type DeclaredService = Pick<ServiceRecord, "name" | "check" | "host">;

/** Returns the services of the file that have one of these names. */
export async function listDeclaredServices(
  db: Db,
  names: readonly string[],
): Promise<DeclaredService[]> {
  return await db.query<DeclaredService & Row>(
    `SELECT name, host, health_check AS "check" FROM services WHERE origin = 'file' AND name = ANY ($1)`,
    [names],
  );
}

/** Returns the names of all services, or those of the given names that exist. */
export async function listServiceNames(db: Db, among?: readonly string[]): Promise<string[]> {
  const rows = await db.query(
    "SELECT name FROM services WHERE $1::text[] IS NULL OR name = ANY ($1)",
    [among],
  );
  return rows.map(({ name }) => name);
}

/** Returns the names of the services of test incidents. @param place absent: at any */
export async function listTestServiceNames(db: Db, place?: string): Promise<string[]> {
  const rows = await db.query(
    "SELECT name FROM services s WHERE origin = 'test' AND ($1::text IS NULL OR place_of(s) = $1)",
    [place],
  );
  return rows.map(({ name }) => name);
}

/** Records results of probes. @returns name → number of failed probes in a row, 0: it is up */
export async function recordProbeResults(
  db: Db,
  results: readonly ProbeResult[],
): Promise<Map<string, number>> {
  if (results.length === 0) return new Map();
  const rows = await db.query<{ name: string; failures: number }>(
    `UPDATE services s SET status = CASE WHEN r.healthy THEN 'up' ELSE 'down' END,
       failures = CASE WHEN r.healthy THEN 0 ELSE s.failures + 1 END, checked_at = now(),
       good_at = CASE WHEN r.healthy THEN now() ELSE s.good_at END
     FROM unnest($1::text[], $2::boolean[]) AS r (name, healthy) WHERE s.name = r.name
     RETURNING s.name, s.failures`,
    [results.map(({ name }) => name), results.map(({ healthy }) => healthy)],
  );
  return new Map(rows.map(({ name, failures }) => [name, failures]));
}

function toService(row: Row, dependsOn: readonly Dependency[]): ServiceRecord {
  return {
    name: row.name,
    type: row.type,
    host: row.host,
    owner: row.owner,
    origin: row.origin,
    check: row.health_check,
    restart: row.restart,
    runbook: row.runbook,
    ports: row.ports,
    watched: row.watched,
    ...(row.place === undefined ? {} : { place: row.place, status: row.status }),
    dependsOn,
  };
}

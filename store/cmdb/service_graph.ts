import { ANY_PLACE } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/**
 * Kinds of edges, in the words of ITIL configuration models. Every edge points from the service that needs to the one
 * that is needed: if the target fails, the source is affected.
 */
export const EDGE_KINDS = [
  "depends_on",
  "runs_on",
  "hosted_on",
  "stores_in",
  "connects_to",
  "uses",
] as const;

/** A kind of edge. */
export type EdgeKind = typeof EDGE_KINDS[number];

/** A service that another one needs. */
export interface Dependency {
  readonly service: string;
  readonly kind: EdgeKind;
}

/** An edge: `source` needs `target`. */
export interface ServiceEdge {
  readonly source: string;
  readonly target: string;
  readonly kind: EdgeKind;
}

/** A service at a distance from another. */
export interface RelatedService {
  readonly name: string;
  readonly type: string;
  readonly status: string;
  /** Smallest number of edges between the two, ≥ 1. */
  readonly distance: number;
}

/** Edges that are followed to count the services which an action reaches. */
export const IMPACT_DEPTH = 4;

/** Services around one: those it needs (`upstream`) and those its failure affects (`downstream`), nearest first. */
export interface Impact {
  readonly upstream: readonly RelatedService[];
  readonly downstream: readonly RelatedService[];
}

/**
 * Follows the edges from a service in both directions, in one snapshot. Each service is listed once, at its smallest
 * distance; the start is not listed, even if it is on a cycle.
 *
 * @param depth maximum number of edges, ≥ 1
 * @returns undefined: there is no such service
 */
export async function getImpact(
  db: Db,
  service: string,
  depth: number,
): Promise<Impact | undefined> {
  const rows = await db.query<RelatedService & { readonly needed: boolean | null }>(
    `WITH start AS MATERIALIZED (SELECT id FROM services WHERE name = $1),
     reached AS (
       SELECT true AS needed, r.* FROM start, services_reached(start.id, $2, true) AS r
       UNION ALL
       SELECT false, r.* FROM start, services_reached(start.id, $2, false) AS r
     )
     SELECT needed, name, type, status, distance FROM reached JOIN services USING (id)
     UNION ALL SELECT null, null, null, null, 0 FROM start -- says that the service exists`,
    [service, depth],
  );
  if (rows.length === 0) return undefined;
  const side = (wanted: boolean): RelatedService[] =>
    rows.filter(({ needed }) => needed === wanted)
      .map(({ name, type, status, distance }) => ({ name, type, status, distance }))
      .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return { upstream: side(true), downstream: side(false) };
}

/** Returns the services that an action on one reaches: itself, and those that need it. Empty: there is no such service. */
export async function listReached(db: Db, service: string): Promise<string[]> {
  const impact = await getImpact(db, service, IMPACT_DEPTH);
  return impact ? [service, ...impact.downstream.map(({ name }) => name)] : [];
}

/**
 * Returns one of the shortest paths from a service along its dependencies to another, in one snapshot.
 *
 * @param maxDepth maximum number of edges, ≥ 1
 * @returns its edges in order, empty if both are the same service; undefined: there is no path, or a service is missing
 */
export async function findPath(
  db: Db,
  source: string,
  target: string,
  maxDepth: number,
): Promise<ServiceEdge[] | undefined> {
  const row = await db.first(
    `SELECT way, ARRAY(
       SELECT json_build_object('source', a.name, 'target', b.name, 'kind',
         (SELECT min(kind) FROM service_edges e WHERE e.source = a.id AND e.target = b.id))
       FROM generate_series(1, cardinality(way) - 1) AS n
       JOIN services a ON a.id = way[n] JOIN services b ON b.id = way[n + 1] ORDER BY n
     ) AS edges
     FROM services s, services t, services_path(s.id, t.id, $3) AS way
     WHERE s.name = $1 AND t.name = $2`,
    [source, target, maxDepth],
  );
  return row?.way ? row.edges : undefined;
}

/** All services and their dependencies, by name. */
export interface ServiceGraph {
  /** Service → its host. */
  readonly hosts: ReadonlyMap<string, string>;
  /** Service → the place that it is at; those that any place may look at are missing. */
  readonly places: ReadonlyMap<string, string>;
  /** Service → services it needs. */
  readonly dependsOn: ReadonlyMap<string, readonly string[]>;
}

/** Returns all services and their dependencies. */
export async function getServiceGraph(db: Db): Promise<ServiceGraph> {
  const rows = await db.query<
    { name: string; host: string; place: string | null; needs: string[] }
  >(
    `SELECT s.name, s.host, nullif(place_of(s), '${ANY_PLACE}') AS place, ARRAY(
       SELECT DISTINCT t.name FROM service_edges e JOIN services t ON t.id = e.target
       WHERE e.source = s.id ORDER BY t.name) AS needs
     FROM services s`,
  );
  return {
    hosts: new Map(rows.map(({ name, host }) => [name, host])),
    places: new Map(rows.flatMap(({ name, place }) => place === null ? [] : [[name, place]])),
    dependsOn: new Map(rows.map(({ name, needs }) => [name, needs])),
  };
}

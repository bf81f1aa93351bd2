import type { Queryable } from "./connection.ts";

/**
 * Kinds of edges, in the words of ITIL configuration models. Whatever the kind, it points from the one that needs to the
 * one that is needed: where the target fails, the source is affected.
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

/** What a service needs, and how. */
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

/** A service that is so many edges away. */
export interface RelatedService {
  readonly name: string;
  readonly type: string;
  readonly status: string;
  /** Least number of edges, ≥ 1. */
  readonly distance: number;
}

/** What a service needs (`upstream`), and who is affected when it fails (`downstream`); nearest first, then by name. */
export interface Impact {
  readonly upstream: readonly RelatedService[];
  readonly downstream: readonly RelatedService[];
}

/**
 * Looks along the edges from a service, in both directions, as of one moment. A service on a cycle is there once, at its
 * least distance; the service itself is not.
 *
 * @param depth most edges, ≥ 1
 * @returns undefined where there is no such service
 */
export async function getImpact(
  on: Queryable,
  service: string,
  depth: number,
): Promise<Impact | undefined> {
  const { rows } = await on.raw<{ rows: Row[] }>(
    `WITH start AS MATERIALIZED (SELECT id FROM services WHERE name = :service),
     reached AS (
       SELECT true AS needed, r.* FROM start, services_reached(start.id, :depth, true) AS r
       UNION ALL
       SELECT false, r.* FROM start, services_reached(start.id, :depth, false) AS r
     )
     SELECT needed, name, type, status, distance FROM reached JOIN services USING (id)
     UNION ALL SELECT null, null, null, null, 0 FROM start`,
    { service, depth },
  );
  if (rows.length === 0) return undefined;
  const side = (wanted: boolean): RelatedService[] =>
    rows.filter(({ needed }) => needed === wanted)
      .map(({ name, type, status, distance }) => ({ name, type, status, distance }))
      .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return { upstream: side(true), downstream: side(false) };
}

/** `needed` is null in the one that only says that the service itself is there. */
type Row = RelatedService & { readonly needed: boolean | null };

/**
 * One of the shortest ways from a service along what it needs to another, as of one moment.
 *
 * @param maxDepth most edges, ≥ 1
 * @returns its edges in order, none where both are the same service; undefined where there is no such way, or one of the
 * services is not there
 */
export async function findPath(
  on: Queryable,
  source: string,
  target: string,
  maxDepth: number,
): Promise<ServiceEdge[] | undefined> {
  const { rows: [row] } = await on.raw(
    `SELECT way, ARRAY(
       SELECT json_build_object('source', a.name, 'target', b.name, 'kind',
         (SELECT min(kind) FROM service_edges e WHERE e.source = a.id AND e.target = b.id))
       FROM generate_series(1, cardinality(way) - 1) AS n
       JOIN services a ON a.id = way[n] JOIN services b ON b.id = way[n + 1] ORDER BY n
     ) AS edges
     FROM services s, services t, services_path(s.id, t.id, :maxDepth) AS way
     WHERE s.name = :source AND t.name = :target`,
    { source, target, maxDepth },
  );
  return row?.way ? row.edges : undefined;
}

/** The edges of a service itself: to what it needs, and from those that need it; by name. */
export async function getNeighbours(
  on: Queryable,
  service: string,
): Promise<{ needs: ServiceEdge[]; neededBy: ServiceEdge[] }> {
  const { rows } = await on.raw<{ rows: ServiceEdge[] }>(
    `SELECT a.name AS source, b.name AS target, e.kind FROM services s
     JOIN service_edges e ON s.id IN (e.source, e.target)
     JOIN services a ON a.id = e.source JOIN services b ON b.id = e.target
     WHERE s.name = ? ORDER BY source, target, kind`,
    [service],
  );
  return {
    needs: rows.filter(({ source }) => source === service),
    neededBy: rows.filter(({ target }) => target === service),
  };
}

/** That one of the asked services needs another one of them, over so many edges. */
export interface Need {
  readonly service: string;
  readonly needs: string;
  readonly distance: number;
}

/**
 * Which of these services need which others of them: a fault of `needs` may be why `service` fails.
 *
 * @param depth most edges between two of them, ≥ 1; those between may be others
 */
export async function needsAmong(
  on: Queryable,
  services: readonly string[],
  depth: number,
): Promise<Need[]> {
  const { rows } = await on.raw(
    `WITH asked AS MATERIALIZED (SELECT id, name FROM services WHERE name = ANY (?::text[]))
     SELECT a.name AS service, b.name AS needs, r.distance
     FROM asked a, services_reached(a.id, ?, true) AS r JOIN asked b ON b.id = r.id
     ORDER BY service, distance, needs`,
    [[...services], depth],
  );
  return rows;
}

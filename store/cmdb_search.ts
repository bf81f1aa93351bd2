import type { Dependency } from "./cmdb.ts";
import type { Queryable } from "./connection.ts";
import type { DeclaredPort, ServiceOrigin } from "./services.ts";

/** What the graph of services knows, counted. */
export interface CmdbSummary {
  readonly services: number;
  readonly edges: number;
  readonly by_type: Record<string, number>;
  readonly by_status: Record<string, number>;
  readonly by_origin: Record<string, number>;
  readonly by_kind: Record<string, number>;
  /** Services without any edge. */
  readonly unconnected: number;
  /** ISO 8601; null: there is no service. */
  readonly updated_at: string | null;
}

/** Counts what the graph knows. */
export async function getCmdbSummary(on: Queryable): Promise<CmdbSummary> {
  const counts = (column: string, table: string) =>
    `(SELECT coalesce(json_object_agg(key, n), '{}') FROM
       (SELECT ${column} AS key, count(*) AS n FROM ${table} GROUP BY 1) AS c)`;
  const { rows: [row] } = await on.raw(`SELECT
    (SELECT count(*)::int FROM services) AS services,
    (SELECT count(*)::int FROM service_edges) AS edges,
    ${counts("type", "services")} AS by_type,
    ${counts("status", "services")} AS by_status,
    ${counts("origin", "services")} AS by_origin,
    ${counts("kind", "service_edges")} AS by_kind,
    (SELECT count(*)::int FROM services s WHERE NOT EXISTS (SELECT FROM service_edges e WHERE e.source = s.id)
      AND NOT EXISTS (SELECT FROM service_edges e WHERE e.target = s.id)) AS unconnected,
    (SELECT max(updated_at) FROM services) AS updated_at`);
  return { ...row, updated_at: row.updated_at?.toISOString() ?? null };
}

/** What to look for; what is left out fits everything. */
export interface ServiceSearch {
  /** Part of the name, or of a host that may be seen; any case. */
  readonly text?: string;
  readonly type?: string;
  readonly status?: string;
  /** Whether hosts other than `localhost` may be looked at. */
  readonly hosts: boolean;
  /** Most services to give, ≥ 1. */
  readonly limit: number;
}

/** A service with its edges, as a search finds it. */
export interface ServiceMatch {
  readonly name: string;
  readonly type: string;
  readonly host: string;
  readonly owner: string | null;
  readonly origin: ServiceOrigin;
  readonly status: string;
  readonly check: unknown;
  readonly runbook: string | null;
  readonly ports: readonly DeclaredPort[];
  readonly checkedAt: Date | null;
  readonly needs: readonly Dependency[];
  readonly neededBy: readonly Dependency[];
}

/**
 * Looks for services. Those whose name is the text come first, then those whose name begins with it, then by name.
 *
 * @returns as many as the limit allows, and how many there are
 */
export async function findServices(
  on: Queryable,
  { text, type, status, hosts, limit }: ServiceSearch,
): Promise<{ total: number; services: ServiceMatch[] }> {
  const edges = (from: string, to: string) =>
    `ARRAY(SELECT json_build_object('service', t.name, 'kind', kind) FROM service_edges e
       JOIN services t ON t.id = e.${to} WHERE e.${from} = f.id ORDER BY t.name, kind)`;
  const { rows } = await on.raw(
    `WITH found AS (
       SELECT *, count(*) OVER ()::int AS total FROM services
       WHERE (CAST(:text AS text) IS NULL OR position(lower(:text) IN lower(name)) > 0
           OR position(lower(:text) IN lower(host)) > 0 AND (:hosts OR host = 'localhost'))
         AND (CAST(:type AS text) IS NULL OR lower(type) = lower(:type))
         AND (CAST(:status AS text) IS NULL OR status = lower(:status))
       ORDER BY lower(name) = lower(:text) DESC, starts_with(lower(name), lower(:text)) DESC, name
       LIMIT :limit
     )
     SELECT f.*, ${edges("source", "target")} AS needs, ${
      edges("target", "source")
    } AS needed_by FROM found f`,
    { text: text ?? null, type: type ?? null, status: status ?? null, hosts, limit },
  );
  return {
    total: rows[0]?.total ?? 0,
    services: rows.map((row: Record<string, unknown>) => {
      const { name, type, host, owner, origin, status, runbook, ports, needs } = row;
      return {
        ...{ name, type, host, owner, origin, status, runbook, ports, needs },
        check: row.health_check,
        checkedAt: row.checked_at,
        neededBy: row.needed_by,
      };
    }),
  };
}

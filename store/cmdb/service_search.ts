import type { Db } from "../connection.ts";
import type { Dependency } from "./service_graph.ts";
import type { DeclaredPort, ServiceOrigin } from "./services.ts";

/** Counts over the graph of services. */
export interface CmdbSummary {
  readonly services: number;
  readonly edges: number;
  readonly by_type: Readonly<Record<string, number>>;
  readonly by_status: Readonly<Record<string, number>>;
  readonly by_origin: Readonly<Record<string, number>>;
  readonly by_kind: Readonly<Record<string, number>>;
  /** Services without any edge. */
  readonly unconnected: number;
  /** Devices that are enrolled. */
  readonly devices: number;
  /** ISO 8601; null: there is no service. */
  readonly updated_at: string | null;
}

/** Counts services and edges. */
export async function getCmdbSummary(db: Db): Promise<CmdbSummary> {
  const row = await db.first(`SELECT
    (SELECT count(*)::int FROM services) AS services,
    (SELECT count(*)::int FROM service_edges) AS edges,
    (SELECT coalesce(json_object_agg(type, n), '{}')
      FROM (SELECT type, count(*) AS n FROM services GROUP BY 1) t) AS by_type,
    (SELECT coalesce(json_object_agg(status, n), '{}')
      FROM (SELECT status, count(*) AS n FROM services GROUP BY 1) s) AS by_status,
    (SELECT coalesce(json_object_agg(origin, n), '{}')
      FROM (SELECT origin, count(*) AS n FROM services GROUP BY 1) o) AS by_origin,
    (SELECT coalesce(json_object_agg(kind, n), '{}')
      FROM (SELECT kind, count(*) AS n FROM service_edges GROUP BY 1) k) AS by_kind,
    (SELECT count(*)::int FROM services s
      WHERE NOT EXISTS (SELECT FROM service_edges e WHERE e.source = s.id)
        AND NOT EXISTS (SELECT FROM service_edges e WHERE e.target = s.id)) AS unconnected,
    (SELECT count(*)::int FROM devices) AS devices,
    (SELECT max(updated_at) FROM services) AS updated_at`);
  return { ...row as CmdbSummary, updated_at: row!.updated_at?.toISOString() ?? null };
}

/** Selects services. Fields that are left out match everything. */
export interface ServiceSearch {
  /** Part of the name, or of a host that may be searched; any case. */
  readonly text?: string;
  readonly type?: string;
  readonly status?: string;
  /** True: hosts other than `localhost` may be searched. */
  readonly hosts: boolean;
  /** ≥ 1. */
  readonly limit: number;
}

/** A service with its edges. */
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
 * Finds services: first the one whose name is the text, then those whose name begins with it, then by name.
 *
 * @returns as many as the limit allows, and how many match
 */
export async function findServices(
  db: Db,
  { text, type, status, hosts, limit }: ServiceSearch,
): Promise<{ total: number; services: ServiceMatch[] }> {
  const rows = await db.query(
    `WITH found AS (
       SELECT *, count(*) OVER ()::int AS total FROM services
       WHERE ($1::text IS NULL OR position(lower($1) IN lower(name)) > 0
           OR position(lower($1) IN lower(host)) > 0 AND ($4 OR host = 'localhost'))
         AND ($2::text IS NULL OR lower(type) = lower($2))
         AND ($3::text IS NULL OR status = lower($3))
       ORDER BY lower(name) = lower($1) DESC, starts_with(lower(name), lower($1)) DESC, name
       LIMIT $5
     )
     SELECT f.*,
       ARRAY(SELECT json_build_object('service', t.name, 'kind', kind) FROM service_edges e
         JOIN services t ON t.id = e.target WHERE e.source = f.id ORDER BY t.name, kind) AS needs,
       ARRAY(SELECT json_build_object('service', t.name, 'kind', kind) FROM service_edges e
         JOIN services t ON t.id = e.source WHERE e.target = f.id ORDER BY t.name, kind) AS needed_by
     FROM found f`,
    [text, type, status, hosts, limit],
  );
  return {
    total: rows[0]?.total ?? 0,
    services: rows.map((row) => ({
      name: row.name,
      type: row.type,
      host: row.host,
      owner: row.owner,
      origin: row.origin,
      status: row.status,
      check: row.health_check,
      runbook: row.runbook,
      ports: row.ports,
      checkedAt: row.checked_at,
      needs: row.needs,
      neededBy: row.needed_by,
    })),
  };
}

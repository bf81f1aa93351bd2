import type { Queryable } from "./connection.ts";
import { DRILLS } from "./knowledge.ts";

/** How long a group of tickets took to be resolved, in seconds; null where there are none. */
export interface ResolutionTimes {
  readonly resolved: number;
  readonly mean_seconds: number | null;
  readonly median_seconds: number | null;
  readonly p90_seconds: number | null;
}

/** The same of all tickets, and of each kind, and over time. */
export interface ResolutionFigures extends ResolutionTimes {
  readonly by_severity: Readonly<Record<string, ResolutionTimes>>;
  readonly by_category: Readonly<Record<string, ResolutionTimes>>;
  /** Days of UTC on which some were resolved, oldest first, at most the last 90 of them. */
  readonly by_day: readonly (ResolutionTimes & { readonly day: string })[];
}

const MOST_DAYS = 90;

/** Which tickets to measure; all but those of drills, which are exercises, where nothing is given. */
export interface ResolutionFilter {
  /** Resolved at or after. */
  readonly since?: Date;
  /** Only those about this service, which may be one that a drill has broken. */
  readonly service?: string;
}

/** Time to resolution of tickets. */
export async function getResolutionFigures(
  on: Queryable,
  { since, service }: ResolutionFilter = {},
): Promise<ResolutionFigures> {
  const { rows } = await on.raw(
    `SELECT severity, category, to_char(day, 'YYYY-MM-DD') AS day, count(*)::int AS resolved, avg(s) AS mean,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY s) AS median,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY s) AS p90
     FROM (SELECT severity, coalesce(category, 'undiagnosed') AS category, (resolved_at AT TIME ZONE 'UTC')::date AS day,
             extract(epoch FROM resolved_at - opened_at)::float8 AS s
           FROM tickets
           WHERE status = 'resolved' AND resolved_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
             AND CASE WHEN CAST(:service AS text) IS NULL THEN coalesce(service, '') !~ :drills
               ELSE service = CAST(:service AS text) END) t
     GROUP BY GROUPING SETS ((), (severity), (category), (day)) ORDER BY day, severity, category`,
    { since: since?.toISOString() ?? null, service: service ?? null, drills: DRILLS },
  );
  const groups = rows as Group[];
  const by = (name: "severity" | "category") =>
    Object.fromEntries(
      groups.flatMap((row) => row[name] === null ? [] : [[row[name], shape(row)]]),
    );
  const all = groups.find(({ severity, category, day }) => !severity && !category && !day);
  return {
    ...shape(all),
    by_severity: by("severity"),
    by_category: by("category"),
    by_day: groups.flatMap((row) => row.day === null ? [] : [{ day: row.day, ...shape(row) }])
      .slice(-MOST_DAYS),
  };
}

interface Group {
  readonly severity: string | null;
  readonly category: string | null;
  readonly day: string | null;
  readonly resolved: number;
  readonly mean: number | null;
  readonly median: number | null;
  readonly p90: number | null;
}

function shape(row: Group | undefined): ResolutionTimes {
  return {
    resolved: row?.resolved ?? 0,
    mean_seconds: toMillisecond(row?.mean),
    median_seconds: toMillisecond(row?.median),
    p90_seconds: toMillisecond(row?.p90),
  };
}

const toMillisecond = (seconds: number | null | undefined) =>
  seconds === null || seconds === undefined ? null : Math.round(seconds * 1_000) / 1_000;

/** How many tickets, services and approvals stand how. What belongs to drills is left out. */
export async function getPlatformCounts(on: Queryable) {
  const { rows: [row] } = await on.raw(
    `WITH real AS MATERIALIZED (
       SELECT status, escalated, opened_at, resolved_at, severity, category FROM tickets
       WHERE coalesce(service, '') !~ '${DRILLS}'
     )
     SELECT
       (SELECT json_build_object(
          'open', count(*) FILTER (WHERE status = 'open'),
          'resolved', count(*) FILTER (WHERE status = 'resolved'),
          'escalated', count(*) FILTER (WHERE escalated AND status = 'open'),
          'opened_last_24h', count(*) FILTER (WHERE opened_at > now() - interval '1 day'),
          'resolved_last_24h', count(*) FILTER (WHERE resolved_at > now() - interval '1 day')) FROM real) AS tickets,
       (SELECT coalesce(json_object_agg(severity, n), '{}') FROM
          (SELECT severity, count(*) AS n FROM real WHERE status = 'open' GROUP BY 1) s) AS open_by_severity,
       (SELECT coalesce(json_object_agg(category, n), '{}') FROM
          (SELECT coalesce(category, 'undiagnosed') AS category, count(*) AS n
           FROM real WHERE status = 'open' GROUP BY 1) c) AS open_by_category,
       (SELECT coalesce(json_object_agg(status, n), '{}') FROM
          (SELECT status, count(*) AS n FROM services WHERE name !~ '${DRILLS}' GROUP BY 1) v) AS services,
       (SELECT count(*)::int FROM approvals WHERE status = 'pending') AS pending_approvals,
       (SELECT min(opened_at) FROM real WHERE status = 'open') AS oldest_open_at`,
  );
  return {
    tickets: row.tickets as Record<string, number>,
    open_by_severity: row.open_by_severity as Record<string, number>,
    open_by_category: row.open_by_category as Record<string, number>,
    services: row.services as Record<string, number>,
    pending_approvals: row.pending_approvals as number,
    oldest_open_at: (row.oldest_open_at?.toISOString() ?? null) as string | null,
  };
}

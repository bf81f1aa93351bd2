/** Figures about tickets, services and approvals. Those of drills are left out. */
import { DRILL_SERVICE_PATTERN } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/**
 * Times to resolution of a group of tickets in seconds, from when the service passed its check last, where that is known, and
 * from the ticket; null: it is empty.
 */
interface ResolutionTimes {
  readonly resolved: number;
  readonly mean_seconds: number | null;
  readonly median_seconds: number | null;
  readonly p90_seconds: number | null;
  readonly from_ticket: TimesFromTicket;
}

/** The same, from the opening of the tickets. */
type TimesFromTicket = Readonly<
  Record<"mean_seconds" | "median_seconds" | "p90_seconds", number | null>
>;

/** Times to resolution of all tickets, and by group. */
export interface ResolutionFigures extends ResolutionTimes {
  readonly by_severity: Readonly<Record<string, ResolutionTimes>>;
  readonly by_category: Readonly<Record<string, ResolutionTimes>>;
  /** Days in UTC on which tickets were resolved, oldest first, at most the last 90 of them. */
  readonly by_day: readonly (ResolutionTimes & { readonly day: string })[];
}

/** Selects resolved tickets. Fields that are left out match everything but drills. */
export interface ResolutionFilter {
  /** Resolved at or after. */
  readonly since?: Date;
  /** Only tickets of this service, which may be one of a drill. */
  readonly service?: string;
}

const MAX_DAYS = 90;

/** Measures times to resolution. */
export async function getResolutionFigures(
  db: Db,
  { since, service }: ResolutionFilter = {},
): Promise<ResolutionFigures> {
  const groups = await db.query<Group>(
    `SELECT severity, category, to_char(day, 'YYYY-MM-DD') AS day, count(*)::int AS resolved, avg(s) AS mean,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY s) AS median,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY s) AS p90, avg(t) AS ticket_mean,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY t) AS ticket_median,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY t) AS ticket_p90
     FROM (
       SELECT severity, coalesce(category, 'undiagnosed') AS category, (resolved_at AT TIME ZONE 'UTC')::date AS day,
         extract(epoch FROM resolved_at - coalesce(last_good_at, opened_at))::float8 AS s,
         extract(epoch FROM resolved_at - opened_at)::float8 AS t
       FROM tickets
       WHERE status = 'resolved'
         AND ($1::timestamptz IS NULL OR resolved_at >= $1)
         AND CASE WHEN $2::text IS NULL THEN coalesce(service, '') !~ $3 ELSE service = $2 END) tickets
     GROUP BY GROUPING SETS ((), (severity), (category), (day)) ORDER BY day, severity, category`,
    [since, service, DRILL_SERVICE_PATTERN],
  );
  const by = (name: "severity" | "category") =>
    Object.fromEntries(
      groups.flatMap((row) => row[name] === null ? [] : [[row[name], timesOf(row)]]),
    );
  const all = groups.find(({ severity, category, day }) => !severity && !category && !day);
  return {
    ...timesOf(all),
    by_severity: by("severity"),
    by_category: by("category"),
    by_day: groups.flatMap((row) => row.day === null ? [] : [{ day: row.day, ...timesOf(row) }])
      .slice(-MAX_DAYS),
  };
}

/** A row of the statement: of all tickets, or of one severity, category or day. */
type Group = {
  readonly severity: string | null;
  readonly category: string | null;
  readonly day: string | null;
  readonly resolved: number;
  readonly mean: number | null;
  readonly median: number | null;
  readonly p90: number | null;
  readonly ticket_mean: number | null;
  readonly ticket_median: number | null;
  readonly ticket_p90: number | null;
};

function timesOf(row: Group | undefined): ResolutionTimes {
  return {
    resolved: row?.resolved ?? 0,
    mean_seconds: toMillisecond(row?.mean),
    median_seconds: toMillisecond(row?.median),
    p90_seconds: toMillisecond(row?.p90),
    from_ticket: {
      mean_seconds: toMillisecond(row?.ticket_mean),
      median_seconds: toMillisecond(row?.ticket_median),
      p90_seconds: toMillisecond(row?.ticket_p90),
    },
  };
}

const toMillisecond = (seconds: number | null | undefined) =>
  seconds === null || seconds === undefined ? null : Math.round(seconds * 1_000) / 1_000;

/** Counts of tickets, services and approvals. */
export interface PlatformCounts {
  readonly tickets: Readonly<Record<string, number>>;
  readonly open_by_severity: Readonly<Record<string, number>>;
  readonly open_by_category: Readonly<Record<string, number>>;
  /** Counts by status. */
  readonly services: Readonly<Record<string, number>>;
  readonly pending_approvals: number;
  /** ISO 8601; null: no ticket is open. */
  readonly oldest_open_at: string | null;
}

/** Counts tickets, services and approvals. */
export async function getPlatformCounts(db: Db): Promise<PlatformCounts> {
  const row = await db.first(
    `WITH real AS MATERIALIZED (
       SELECT status, escalated, opened_at, resolved_at, severity, category FROM tickets
       WHERE coalesce(service, '') !~ $1
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
          (SELECT status, count(*) AS n FROM services WHERE name !~ $1 GROUP BY 1) v) AS services,
       (SELECT count(*)::int FROM approvals WHERE status = 'pending') AS pending_approvals,
       (SELECT min(opened_at) FROM real WHERE status = 'open') AS oldest_open_at`,
    [DRILL_SERVICE_PATTERN],
  );
  return {
    ...row as PlatformCounts,
    oldest_open_at: row!.oldest_open_at?.toISOString() ?? null,
  };
}

/** Counts tickets by status. */
export async function countTicketsByStatus(db: Db): Promise<Record<string, number>> {
  const rows = await db.query(
    `SELECT status, count(*)::int AS count FROM tickets WHERE coalesce(service, '') !~ $1 GROUP BY 1`,
    [DRILL_SERVICE_PATTERN],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Counts services by status. */
export async function countServicesByStatus(db: Db): Promise<Record<string, number>> {
  const rows = await db.query(
    "SELECT status, count(*)::int AS count FROM services WHERE name !~ $1 GROUP BY 1",
    [DRILL_SERVICE_PATTERN],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

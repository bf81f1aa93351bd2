import { DRILL_SERVICE_PATTERN } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** A passage of the knowledge base, as articles are written from it. */
export interface StoredPassage {
  readonly id: string;
  readonly kind: "article" | "incident";
  readonly category: string;
  readonly title: string;
  readonly text: string;
}

/** Returns a current passage by its id, or undefined. */
export async function getPassage(db: Db, id: string): Promise<StoredPassage | undefined> {
  return await db.first<StoredPassage>(
    "SELECT id, kind, category, title, content AS text FROM knowledge WHERE id = $1 AND current",
    [id],
  );
}

/** Names of the tenant that must not become public. */
export interface StoredNames {
  readonly services: readonly string[];
  readonly hosts: readonly string[];
  readonly people: readonly {
    readonly name: string;
    /** False: a form on a website took it, or nobody has said whether this person agreed. */
    readonly confirmed: boolean;
  }[];
  /** Names of organizations and holders of keys, and addresses. */
  readonly others: readonly string[];
}

/** Returns the names of services, hosts, people and organizations that the tenant has. */
export async function listPrivateNames(db: Db): Promise<StoredNames> {
  const [services, hosts, people, others] = await Promise.all([
    db.query<{ name: string }>(
      `SELECT name FROM services WHERE origin <> 'platform'
       UNION SELECT service FROM tickets WHERE service IS NOT NULL
         AND service NOT IN (SELECT name FROM services WHERE origin = 'platform')`,
    ),
    db.query<{ name: string }>(
      "SELECT host AS name FROM services UNION SELECT name FROM places UNION SELECT name FROM devices UNION SELECT id FROM devices",
    ),
    db.query<StoredNames["people"][number]>(
      "SELECT name, bool_or(consent <> 'none') AS confirmed FROM contacts GROUP BY name",
    ),
    db.query<{ name: string }>(
      `SELECT email AS name FROM contacts
       UNION SELECT company FROM contacts WHERE company IS NOT NULL
       UNION SELECT principal FROM keys
       UNION SELECT owner FROM services WHERE owner IS NOT NULL
       UNION SELECT name FROM tenants WHERE id NOT IN ('platform', 'everyone')
       UNION SELECT alias FROM tenants WHERE alias IS NOT NULL`,
    ),
  ]);
  const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);
  return { services: namesOf(services), hosts: namesOf(hosts), people, others: namesOf(others) };
}

/** Verified repairs: those that changed something, and whose check was made afterwards and passed. @param ticket its id */
const isRepaired = (ticket: string) =>
  `EXISTS (SELECT FROM ticket_events acted JOIN ticket_events probed ON probed.ticket_id = acted.ticket_id
     AND probed.key = replace(acted.key, '/remediated-', '/verified-') AND probed.kind = 'verified'
   WHERE acted.ticket_id = ${ticket} AND acted.kind IN ('remediated', 'remediation_failed')
     AND acted.data ->> 'state' <> 'not_done')`;

/** Figures of the incidents of a category, without drills. */
export async function getCategoryFigures(
  db: Db,
  category: string,
  days: number,
): Promise<
  { readonly opened: number; readonly healed: number; readonly median_ms: number | null }
> {
  const row = await db.first<{ opened: number; healed: number; median_ms: number | null }>(
    `SELECT count(*)::int AS opened,
       count(*) FILTER (WHERE outcome = 'sealed' AND ${isRepaired("tickets.id")})::int AS healed,
       (percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM resolved_at - opened_at) * 1000)
         FILTER (WHERE resolved_at IS NOT NULL))::float8 AS median_ms
     FROM tickets WHERE category = $1 AND opened_at > now() - make_interval(days => $2)
       AND coalesce(service !~ $3, true)`,
    [category, days, DRILL_SERVICE_PATTERN],
  );
  return row!;
}

/** Figures of the incidents and repairs of a time. */
export interface PeriodFigures {
  readonly opened: number;
  /** Those of them that were drills. */
  readonly drills: number;
  readonly resolved: number;
  /** Closed by the platform after a repair that the check passed after. */
  readonly healed: number;
  /** Those of them in which a person consented to a repair. */
  readonly consented: number;
  /** Closed by the platform without such a repair: their check passed again. */
  readonly over: number;
  /** Open, and left to people. */
  readonly escalated: number;
  /** Null: none was resolved. */
  readonly median_ms: number | null;
  readonly slowest_ms: number | null;
  /** Most first. */
  readonly categories: readonly { readonly category: string | null; readonly count: number }[];
  readonly runbooks: readonly {
    readonly runbook: string;
    /** How often it changed something. */
    readonly runs: number;
    /** How often the check passed after that, and how often it failed. */
    readonly helped: number;
    readonly failed: number;
    /** How often it was begun and changed nothing, and how often nobody can tell. */
    readonly idle: number;
    readonly unknown: number;
  }[];
  /** Requests for approvals about tickets, by what became of them. */
  readonly approved: number;
  readonly denied: number;
  readonly expired: number;
  readonly pending: number;
  /** Questions that ended as what they were about had changed. */
  readonly outdated: number;
  /** Oldest first. */
  readonly incidents: readonly {
    readonly title: string;
    /** Code of the finding; null: people reported it. */
    readonly code: string | null;
    readonly opened_at: Date;
    /** Null: it is open. */
    readonly resolved_at: Date | null;
    readonly ending: "healed" | "over" | "closed" | "open";
    readonly drill: boolean;
    readonly receipt_id: string | null;
  }[];
}

/** Ends of requests for approvals. */
type Decisions = Pick<PeriodFigures, "approved" | "denied" | "expired" | "pending" | "outdated">;

/** Returns the figures of the incidents that were opened in a time. */
export async function getPeriodFigures(db: Db, from: Date, to: Date): Promise<PeriodFigures> {
  const span = [from, to];
  const [totals, categories, runbooks, approvals, incidents] = await Promise.all([
    db.first<Omit<PeriodFigures, "categories" | "runbooks" | keyof Decisions | "incidents">>(
      `SELECT count(*)::int AS opened,
         count(*) FILTER (WHERE service ~ $3)::int AS drills,
         count(*) FILTER (WHERE status = 'resolved')::int AS resolved,
         count(*) FILTER (WHERE outcome = 'sealed' AND repaired)::int AS healed,
         count(*) FILTER (WHERE outcome = 'sealed' AND repaired AND consented)::int AS consented,
         count(*) FILTER (WHERE outcome = 'sealed' AND NOT repaired)::int AS over,
         count(*) FILTER (WHERE status = 'open' AND escalated)::int AS escalated,
         (percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM resolved_at - opened_at) * 1000)
           FILTER (WHERE resolved_at IS NOT NULL))::float8 AS median_ms,
         (max(extract(epoch FROM resolved_at - opened_at)) * 1000)::float8 AS slowest_ms
       FROM (SELECT *, ${isRepaired("tickets.id")} AS repaired,
           EXISTS (SELECT FROM approvals a WHERE a.ticket_id = tickets.id AND a.status = 'approved') AS consented
         FROM tickets WHERE opened_at >= $1 AND opened_at < $2) AS t`,
      [...span, DRILL_SERVICE_PATTERN],
    ),
    db.query<{ category: string | null; count: number }>(
      `SELECT category, count(*)::int AS count FROM tickets WHERE opened_at >= $1 AND opened_at < $2
       GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 16`,
      span,
    ),
    db.query<PeriodFigures["runbooks"][number]>(
      `SELECT acted.data ->> 'runbook' AS runbook,
         count(*) FILTER (WHERE acted.data ->> 'state' IN ('done', 'partly_done'))::int AS runs,
         count(*) FILTER (WHERE acted.data ->> 'state' IN ('done', 'partly_done') AND probed.kind = 'verified')::int AS helped,
         count(*) FILTER (WHERE acted.data ->> 'state' IN ('done', 'partly_done') AND probed.kind = 'verification_failed'
           AND probed.data ->> 'code' NOT IN ('no_check', 'alerts_unknown'))::int AS failed,
         count(*) FILTER (WHERE acted.data ->> 'state' = 'not_done')::int AS idle,
         count(*) FILTER (WHERE acted.data ->> 'state' = 'unknown')::int AS unknown
       FROM ticket_events acted LEFT JOIN ticket_events probed ON probed.ticket_id = acted.ticket_id
         AND probed.key = replace(acted.key, '/remediated-', '/verified-') AND probed.id <> acted.id
       WHERE acted.kind IN ('remediated', 'remediation_failed') AND acted.at >= $1 AND acted.at < $2
         AND acted.data ->> 'runbook' IS NOT NULL
       GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 12`,
      span,
    ),
    db.first<Decisions>(
      `SELECT count(*) FILTER (WHERE status = 'approved')::int AS approved,
         count(*) FILTER (WHERE status = 'denied')::int AS denied,
         count(*) FILTER (WHERE status = 'expired')::int AS expired,
         count(*) FILTER (WHERE status = 'pending')::int AS pending,
         count(*) FILTER (WHERE status = 'outdated')::int AS outdated
       FROM approvals WHERE ticket_id IS NOT NULL AND asked_at >= $1 AND asked_at < $2`,
      span,
    ),
    db.query<PeriodFigures["incidents"][number]>(
      `SELECT title, opened_at, resolved_at, receipt_id,
         CASE WHEN status = 'open' THEN 'open' WHEN outcome <> 'sealed' THEN 'closed'
           WHEN ${isRepaired("t.id")} THEN 'healed' ELSE 'over' END AS ending,
         coalesce(service ~ $3, false) AS drill,
         (SELECT data ->> 'code' FROM ticket_events e WHERE e.ticket_id = t.id AND e.kind = 'detected' ORDER BY e.id LIMIT 1) AS code
       FROM tickets t WHERE opened_at >= $1 AND opened_at < $2 ORDER BY opened_at, id LIMIT 20`,
      [...span, DRILL_SERVICE_PATTERN],
    ),
  ]);
  return {
    ...totals!,
    categories,
    runbooks,
    ...approvals!,
    incidents,
  };
}

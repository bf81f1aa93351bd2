import type { Queryable } from "./connection.ts";
import { DRILLS } from "./knowledge.ts";

/** One step of a repair, or the undoing of one. */
export interface RepairStep {
  readonly step: string | null;
  readonly state: "intended" | "done" | "not_done" | "unknown";
  readonly code: string | null;
  /** Whether it undid another one. */
  readonly undoes: boolean;
}

/** One action of the loop on the world, with its steps. */
export interface Repair {
  /** The action's. */
  readonly id: string;
  readonly ticket_id: string;
  readonly service: string;
  readonly runbook: string | null;
  /** What an approval is for. */
  readonly action_sha256: string;
  /** `unknown` where nobody can tell of one of its steps whether it happened; `intended`: under way. */
  readonly state: "intended" | "done" | "not_done" | "unknown";
  /** Whether the service was healthy afterwards; null: nobody has looked. */
  readonly verified: boolean | null;
  /** Whether any of it was undone. */
  readonly undone: boolean;
  readonly steps: readonly RepairStep[];
  readonly intended_at: string;
  readonly ended_at: string | null;
}

/** Which repairs to list; all but those of drills, where neither a service nor a ticket is named. */
export interface RepairFilter {
  readonly service?: string;
  readonly ticketId?: string;
  /** Intended at or after. */
  readonly since?: Date;
}

/** How repairs went. */
export interface RepairFigures {
  readonly by_state: Readonly<Record<string, number>>;
  /** Share of the ended ones after which the service was healthy; null: none has ended. */
  readonly success_rate: number | null;
}

/**
 * Repairs from their steps; the verification is that of the same round. Its parameters: service, ticket, since, drills.
 */
const REPAIRS = `WITH wanted AS (
    SELECT *, coalesce(action_id, id) AS repair FROM effects
    WHERE (service = CAST(:service AS text) OR CAST(:service AS text) IS NULL)
      AND (ticket_id = CAST(:ticket AS text) OR CAST(:ticket AS text) IS NULL)
      AND intended_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
      AND (service !~ :drills OR CAST(:service AS text) IS NOT NULL OR CAST(:ticket AS text) IS NOT NULL)
  ), repairs AS (
    SELECT repair AS id, min(ticket_id) AS ticket_id, min(service) AS service,
      max(action->>'runbook') AS runbook, min(action_sha256) AS action_sha256,
      CASE WHEN bool_or(state = 'unknown') THEN 'unknown' WHEN bool_or(state = 'intended') THEN 'intended'
        WHEN bool_or(state = 'not_done' AND undoes IS NULL
          AND NOT coalesce((detail->>'ok')::boolean, false)) THEN 'not_done' ELSE 'done' END AS state,
      bool_or(undoes IS NOT NULL AND state = 'done') AS undone,
      json_agg(json_build_object('step', step, 'state', state, 'code', detail->>'code',
        'undoes', undoes IS NOT NULL) ORDER BY intended_at) AS steps,
      min(intended_at) AS intended_at,
      CASE WHEN bool_and(ended_at IS NOT NULL) THEN max(ended_at) END AS ended_at
    FROM wanted GROUP BY repair
  ), seen AS (
    SELECT repairs.*, looked.kind = 'verified' AS verified FROM repairs
    LEFT JOIN ticket_events acted ON acted.ticket_id = repairs.ticket_id
      AND acted.kind IN ('remediated', 'remediation_failed') AND acted.data->>'action_id' = repairs.id
    LEFT JOIN ticket_events looked ON looked.ticket_id = acted.ticket_id
      AND looked.key = replace(acted.key, '/remediated-', '/verified-')
  )`;

/** Repairs, newest first; and of all that fit, how they went. */
export async function getRepairHistory(
  on: Queryable,
  { limit, ...filter }: RepairFilter & { limit: number },
): Promise<RepairFigures & { readonly remediations: readonly Repair[] }> {
  const [remediations, figures] = await Promise.all([
    repairsWhere(on, filter, limit),
    getRepairFigures(on, filter),
  ]);
  return { remediations, ...figures };
}

/** How repairs went. */
export async function getRepairFigures(
  on: Queryable,
  filter: RepairFilter = {},
): Promise<RepairFigures> {
  const { rows } = await on.raw(
    `${REPAIRS} SELECT state, count(*)::int AS n, count(*) FILTER (WHERE verified)::int AS healthy FROM seen GROUP BY 1`,
    parameters(filter),
  );
  const groups = rows as { state: string; n: number; healthy: number }[];
  const ended = groups.filter(({ state }) => state !== "intended");
  const count = ended.reduce((sum, { n }) => sum + n, 0);
  const healthy = ended.reduce((sum, { healthy }) => sum + healthy, 0);
  return {
    by_state: Object.fromEntries(groups.map(({ state, n }) => [state, n])),
    success_rate: count === 0 ? null : healthy / count,
  };
}

/** The repairs of a ticket, oldest first. */
export async function listRepairsOfTicket(on: Queryable, ticketId: string): Promise<Repair[]> {
  return (await repairsWhere(on, { ticketId }, 1_000)).reverse();
}

async function repairsWhere(on: Queryable, filter: RepairFilter, limit: number): Promise<Repair[]> {
  const { rows } = await on.raw(
    `${REPAIRS} SELECT * FROM seen ORDER BY intended_at DESC, id LIMIT :limit`,
    { ...parameters(filter), limit },
  );
  return rows.map((
    { intended_at, ended_at, ...row }: Repair & { intended_at: Date; ended_at: Date | null },
  ) => ({
    ...row,
    intended_at: intended_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
  }));
}

function parameters({ service, ticketId, since }: RepairFilter) {
  return {
    service: service ?? null,
    ticket: ticketId ?? null,
    since: since?.toISOString() ?? null,
    drills: DRILLS,
  };
}

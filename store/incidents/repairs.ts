import { DRILL_SERVICE_PATTERN } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";
import type { EffectState } from "./effects.ts";

/** One step of a repair, or the undoing of one. */
interface RepairStep {
  readonly step: string | null;
  readonly state: EffectState;
  readonly code: string | null;
  /** True: it undid another step. */
  readonly undoes: boolean;
}

/** One action of the loop, with its steps. */
export interface Repair {
  /** Id of the action. */
  readonly id: string;
  readonly ticket_id: string;
  readonly service: string;
  readonly runbook: string | null;
  /** Names the action in approvals. */
  readonly action_sha256: string;
  /** `unknown`: nobody can tell whether one of its steps happened; `intended`: under way. */
  readonly state: EffectState;
  /** True: the service was healthy afterwards; null: it was not probed. */
  readonly verified: boolean | null;
  /** True: one of its steps was undone. */
  readonly undone: boolean;
  readonly steps: readonly RepairStep[];
  readonly intended_at: string;
  readonly ended_at: string | null;
}

/** Selects repairs. Repairs of drills match only if a service or a ticket is named. */
export interface RepairFilter {
  readonly service?: string;
  readonly ticketId?: string;
  /** Intended at or after. */
  readonly since?: Date;
}

/** Results of repairs. */
export interface RepairFigures {
  readonly by_state: Readonly<Record<string, number>>;
  /** Share of the ended repairs after which the service was healthy; null: none has ended. */
  readonly success_rate: number | null;
}

/** Repairs and their results. */
export interface RepairHistory extends RepairFigures {
  /** Newest first. */
  readonly remediations: readonly Repair[];
}

/** Most repairs of one ticket that are listed. */
const MAX_REPAIRS_OF_TICKET = 1_000;

/** Returns the newest repairs, and the results of all that match. */
export async function getRepairHistory(
  db: Db,
  { limit, ...filter }: RepairFilter & { readonly limit: number },
): Promise<RepairHistory> {
  const [remediations, figures] = await Promise.all([
    listRepairs(db, filter, limit),
    getRepairFigures(db, filter),
  ]);
  return { remediations, ...figures };
}

/** Counts repairs by their state. */
export async function getRepairFigures(db: Db, filter: RepairFilter = {}): Promise<RepairFigures> {
  const rows = await db.query<{ state: string; count: number; healthy: number }>(
    `${REPAIRS} SELECT state, count(*)::int AS count, count(*) FILTER (WHERE verified)::int AS healthy
     FROM verified GROUP BY 1`,
    valuesOf(filter),
  );
  const ended = rows.filter(({ state }) => state !== "intended");
  const count = ended.reduce((sum, row) => sum + row.count, 0);
  const healthy = ended.reduce((sum, row) => sum + row.healthy, 0);
  return {
    by_state: Object.fromEntries(rows.map((row) => [row.state, row.count])),
    success_rate: count === 0 ? null : healthy / count,
  };
}

/** Returns the repairs of a ticket, oldest first. */
export async function listRepairsOfTicket(db: Db, ticketId: string): Promise<Repair[]> {
  return (await listRepairs(db, { ticketId }, MAX_REPAIRS_OF_TICKET)).reverse();
}

async function listRepairs(db: Db, filter: RepairFilter, limit: number): Promise<Repair[]> {
  const rows = await db.query(
    `${REPAIRS} SELECT * FROM verified ORDER BY intended_at DESC, id LIMIT $5`,
    [...valuesOf(filter), limit],
  );
  return rows.map(({ intended_at, ended_at, ...row }) => ({
    ...row as Omit<Repair, "intended_at" | "ended_at">,
    intended_at: intended_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
  }));
}

/** Puts effects together to repairs. The verification of a repair is that of its round. */
const REPAIRS = `
  WITH matching AS (
    SELECT *, coalesce(action_id, id) AS repair FROM effects
    WHERE ($1::text IS NULL OR service = $1)
      AND ($2::text IS NULL OR ticket_id = $2)
      AND ($3::timestamptz IS NULL OR intended_at >= $3)
      AND ($1::text IS NOT NULL OR $2::text IS NOT NULL OR service !~ $4)
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
    FROM matching GROUP BY repair
  ), verified AS (
    SELECT repairs.*, probed.kind = 'verified' AS verified FROM repairs
    LEFT JOIN ticket_events acted ON acted.ticket_id = repairs.ticket_id
      AND acted.kind IN ('remediated', 'remediation_failed') AND acted.data->>'action_id' = repairs.id
    LEFT JOIN ticket_events probed ON probed.ticket_id = acted.ticket_id
      AND probed.key = replace(acted.key, '/remediated-', '/verified-')
  )`;

const valuesOf = ({ service, ticketId, since }: RepairFilter) => [
  service,
  ticketId,
  since,
  DRILL_SERVICE_PATTERN,
];

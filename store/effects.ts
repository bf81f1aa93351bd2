import type { Queryable } from "./connection.ts";
import { type StopSubject, STOPPING, stoppingBy } from "./governance.ts";
import { type Part, together } from "./together.ts";

/** A side effect on the world: intended first, then known to be done, not done, or unknown. */
export type EffectRecord = {
  readonly id: string;
  readonly ticket_id: string;
  readonly service: string;
  /** The action that it is a step of; null: it was all of it, before runbooks had steps. */
  readonly action_id: string | null;
  readonly step: string | null;
  /** The effect that it undoes. */
  readonly undoes: string | null;
  readonly action: Readonly<Record<string, unknown>>;
  readonly action_sha256: string;
  readonly state: "intended" | "done" | "not_done" | "unknown";
  readonly detail: Readonly<Record<string, unknown>>;
  readonly intended_at: string;
  readonly ended_at: string | null;
};

/** Table of {@linkcode intendedEffect}: it has a row where the intent is new. */
export const INTENDED = "intended";

/**
 * Part of a statement that writes an intent down, once, while the ticket is open and in the hands of the run, and while
 * no switch stops it.
 *
 * Its column `intended` is 0 where it was there already (then ask the world before acting), or where the ticket is not
 * the run's any more or a switch stops it (then there is none).
 */
export function intendedEffect(
  { id, ticket_id, service, action_id, step, undoes, action, action_sha256, detail }: Omit<
    EffectRecord,
    "state" | "intended_at" | "ended_at"
  >,
  runId: string,
  stoppable: StopSubject,
): Part {
  return {
    tables: `${INTENDED} AS (
       INSERT INTO effects
         (id, ticket_id, service, action_id, step, undoes, action, action_sha256, detail, state)
       SELECT ?, tickets.id, ?, ?, ?, ?, ?::jsonb, ?, ?::jsonb, 'intended' FROM tickets
       WHERE tickets.id = ? AND run_id = ? AND status = 'open' AND NOT escalated
         AND NOT EXISTS (SELECT FROM governance_stops WHERE ${STOPPING}) FOR UPDATE
       ON CONFLICT (id) DO NOTHING RETURNING id
     )`,
    values: [
      ...[id, service, action_id, step, undoes],
      ...[JSON.stringify(action), action_sha256, JSON.stringify(detail)],
      ...[ticket_id, runId, ...stoppingBy(stoppable)],
    ],
    columns: `(SELECT count(*)::int FROM ${INTENDED}) AS intended`,
  };
}

/** As {@linkcode endEffect}, as a part of a statement that does more. */
export function endedEffect(
  id: string,
  state: "done" | "not_done" | "unknown",
  detail: Readonly<Record<string, unknown>>,
): Part {
  return {
    tables: `ended AS (
       UPDATE effects SET state = ?, detail = detail || ?::jsonb, ended_at = now()
       WHERE id = ? AND state = 'intended' RETURNING id
     )`,
    values: [state, JSON.stringify(detail), id],
    columns: "(SELECT count(*)::int FROM ended) AS ended",
  };
}

/** An effect by id, or undefined. */
export async function getEffect(on: Queryable, id: string): Promise<EffectRecord | undefined> {
  const row = await on("effects").where({ id }).first();
  return row && fromRow(row);
}

/** Effects of an action: its steps, and what undid them. */
export async function listEffectsOfAction(on: Queryable, actionId: string): Promise<EffectRecord[]> {
  return (await on("effects").where({ action_id: actionId }).orderBy("intended_at")).map(fromRow);
}

/** Notes what became of an effect. What is known already stays. */
export async function endEffect(
  on: Queryable,
  id: string,
  state: "done" | "not_done" | "unknown",
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  await together(on, [endedEffect(id, state, detail)]);
}

/** Notes that nobody will find out any more what became of a ticket's intended effects. @returns how many */
export async function abandonEffects(on: Queryable, ticketId: string): Promise<number> {
  return await on("effects").where({ ticket_id: ticketId, state: "intended" }).update({
    state: "unknown",
    detail: on.raw("detail || ?::jsonb", [JSON.stringify({ code: "abandoned" })]),
    ended_at: on.fn.now(),
  });
}

/**
 * Which of these effects, or what undoes them, may still be asked about: they are open or unknown, or their ticket is
 * open, or has been within this many days.
 */
export async function findNeededEffects(
  on: Queryable,
  ids: readonly string[],
  days: number,
): Promise<Set<string>> {
  const { rows } = await on.raw(
    `SELECT e.id, e.undoes FROM effects e JOIN tickets t ON t.id = e.ticket_id
     WHERE (e.id = ANY (:ids) OR e.undoes = ANY (:ids))
       AND (e.state IN ('intended', 'unknown') OR t.status = 'open'
         OR greatest(e.ended_at, t.resolved_at) > now() - make_interval(days => :days))`,
    { ids: [...ids], days },
  );
  return new Set(rows.flatMap(({ id, undoes }: EffectRecord) => undoes ? [id, undoes] : [id]));
}

/** Effects, newest first, and the share of the steps ended that ended as they should; undoing is none of them. */
export async function listEffects(on: Queryable, limit: number) {
  const rows = await on("effects").orderBy("intended_at", "desc").limit(limit);
  const { rows: [count] } = await on.raw(
    `SELECT count(*) FILTER (WHERE coalesce((detail ->> 'ok')::boolean, state = 'done'))::int AS done,
       count(*)::int AS ended FROM effects WHERE state <> 'intended' AND undoes IS NULL`,
  );
  return {
    remediations: rows.map(fromRow),
    success_rate: count.ended === 0 ? null : count.done / count.ended,
  };
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function fromRow(row: any): EffectRecord {
  return {
    ...row,
    intended_at: row.intended_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

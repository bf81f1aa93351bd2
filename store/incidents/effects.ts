import { findMaintenance } from "../calendar/mod.ts";
import type { Db, Row } from "../connection.ts";
import { findStop, type StopSubject } from "../calls/mod.ts";

/** State of an effect: `intended` before it begins, then what is known of its end. */
export type EffectState = "intended" | "done" | "not_done" | "unknown";

/** An effect on the world: one step of an action, or the undoing of one. */
export interface EffectRecord {
  readonly id: string;
  readonly ticket_id: string;
  readonly service: string;
  /** The action that it is a step of. */
  readonly action_id: string | null;
  readonly step: string | null;
  /** Id of the effect that it undoes. */
  readonly undoes: string | null;
  readonly action: Readonly<Record<string, unknown>>;
  readonly action_sha256: string;
  readonly state: EffectState;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly intended_at: string;
  readonly ended_at: string | null;
}

/** An effect to intend. */
export type NewEffect = Omit<EffectRecord, "state" | "intended_at" | "ended_at">;

/**
 * Records the intent of an effect, once, if the run works on the open ticket and neither a stop nor a maintenance window holds it back. Must run in a
 * transaction: the ticket is locked until its end, so that nobody closes or takes it over in between.
 *
 * @returns false if nothing was recorded: the intent is there already (then find out what became of it before acting),
 * the ticket is not the run's any more, or it is held back
 */
export async function intendEffect(
  trx: Db,
  effect: NewEffect,
  runId: string,
  stoppable: StopSubject,
): Promise<boolean> {
  if (!await mayAct(trx, effect, runId, stoppable)) return false;
  const intended = await trx.execute(
    `INSERT INTO effects (id, ticket_id, service, action_id, step, undoes, action, action_sha256, detail, state)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'intended') ON CONFLICT (tenant_id, id) DO NOTHING`,
    [
      effect.id,
      effect.ticket_id,
      effect.service,
      effect.action_id,
      effect.step,
      effect.undoes,
      JSON.stringify(effect.action),
      effect.action_sha256,
      JSON.stringify(effect.detail),
    ],
  );
  return intended > 0;
}

/** Returns whether a run may act for its ticket, which is locked until the end of the transaction. */
export async function mayAct(
  trx: Db,
  { ticket_id, service }: Pick<EffectRecord, "ticket_id" | "service">,
  runId: string,
  stoppable: StopSubject,
): Promise<boolean> {
  const ticket = await trx.first(
    `SELECT FROM tickets WHERE id = $1 AND run_id = $2 AND status = 'open' AND NOT escalated
       AND taken_by IS NULL FOR UPDATE`,
    [ticket_id, runId],
  );
  if (!ticket || await findStop(trx, stoppable)) return false;
  return !await findMaintenance(trx, service);
}

/** Returns an effect by id, or undefined. */
export async function getEffect(db: Db, id: string): Promise<EffectRecord | undefined> {
  const row = await db.first("SELECT * FROM effects WHERE id = $1", [id]);
  return row && toEffect(row);
}

/** Returns the effects of an action, with those that undo them, oldest first. */
export async function listEffectsOfAction(db: Db, actionId: string): Promise<EffectRecord[]> {
  const rows = await db.query(
    "SELECT * FROM effects WHERE action_id = $1 ORDER BY intended_at",
    [actionId],
  );
  return rows.map(toEffect);
}

/** Records what became of an effect. One that has ended stays as it is. */
export async function endEffect(
  db: Db,
  id: string,
  state: Exclude<EffectState, "intended">,
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  await db.execute(
    `UPDATE effects SET state = $2, detail = detail || $3, ended_at = now()
     WHERE id = $1 AND state = 'intended'`,
    [id, state, JSON.stringify(detail)],
  );
}

/** Ends a ticket's intended effects as `unknown`, as nobody will find out what became of them. @returns how many */
export async function abandonEffects(db: Db, ticketId: string): Promise<number> {
  return await db.execute(
    `UPDATE effects SET state = 'unknown', detail = detail || '{"code": "abandoned"}', ended_at = now()
     WHERE ticket_id = $1 AND state = 'intended'`,
    [ticketId],
  );
}

/**
 * Returns those of the given effects that may still be asked about: the effect, or what undoes it, is open or unknown, or
 * their ticket is open, or one of these ended within the given days.
 */
export async function findNeededEffects(
  db: Db,
  ids: readonly string[],
  days: number,
): Promise<Set<string>> {
  const rows = await db.query<{ id: string; undoes: string | null }>(
    `SELECT e.id, e.undoes FROM effects e JOIN tickets t ON t.id = e.ticket_id
     WHERE (e.id = ANY ($1) OR e.undoes = ANY ($1))
       AND (e.state IN ('intended', 'unknown') OR t.status = 'open'
         OR greatest(e.ended_at, t.resolved_at) > now() - make_interval(days => $2))`,
    [ids, days],
  );
  return new Set(rows.flatMap(({ id, undoes }) => undoes ? [id, undoes] : [id]));
}

function toEffect(row: Row): EffectRecord {
  return {
    id: row.id,
    ticket_id: row.ticket_id,
    service: row.service,
    action_id: row.action_id,
    step: row.step,
    undoes: row.undoes,
    action: row.action,
    action_sha256: row.action_sha256,
    state: row.state,
    detail: row.detail,
    intended_at: row.intended_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

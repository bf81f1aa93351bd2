/** Silences that repairs ask Alertmanager for. */
import type { Db } from "../connection.ts";
import type { StopSubject } from "../calls/mod.ts";
import { type EffectState, mayAct } from "./effects.ts";

/** The silence of one round of a run. */
export interface SilenceRecord {
  readonly id: string;
  readonly ticket_id: string;
  readonly service: string;
  readonly state: EffectState;
  /** State of lifting it; null: nobody has begun to. */
  readonly lift: EffectState | null;
  /** Number of alerts. */
  readonly wanted: number;
  /** Alertmanager's ids. */
  readonly silences: readonly string[];
  readonly ends_at: Date;
}

/**
 * Records the intent of a silence, once, if the run may act now. Must run in a transaction.
 *
 * @returns false: it is recorded already, or held back
 */
export async function intendSilence(
  trx: Db,
  silence: Pick<SilenceRecord, "id" | "ticket_id" | "service" | "wanted" | "ends_at">,
  runId: string,
  stoppable: StopSubject,
): Promise<boolean> {
  if (!await mayAct(trx, silence, runId, stoppable)) return false;
  const { id, ticket_id, service, wanted, ends_at } = silence;
  const intended = await trx.execute(
    `INSERT INTO alert_silences (id, ticket_id, service, wanted, ends_at, state)
     VALUES ($1, $2, $3, $4, $5, 'intended') ON CONFLICT (tenant_id, id) DO NOTHING`,
    [id, ticket_id, service, wanted, ends_at],
  );
  return intended > 0;
}

/** Records the intent to lift a silence, once, if the run may act now. Must run in a transaction. */
export async function intendLift(
  trx: Db,
  silence: Pick<SilenceRecord, "id" | "ticket_id" | "service">,
  runId: string,
  stoppable: StopSubject,
): Promise<boolean> {
  if (!await mayAct(trx, silence, runId, stoppable)) return false;
  const intended = await trx.execute(
    "UPDATE alert_silences SET lift = 'intended' WHERE id = $1 AND lift IS NULL",
    [silence.id],
  );
  return intended > 0;
}

/** Records what became of a silence, or of lifting it. What has ended stays as it is. @returns false: it had ended */
export async function endSilence(
  db: Db,
  id: string,
  act: "silence" | "lift",
  state: Exclude<EffectState, "intended">,
  silences: readonly string[],
): Promise<boolean> {
  const ended = act === "silence"
    ? await db.execute(
      "UPDATE alert_silences SET state = $2, silences = $3 WHERE id = $1 AND state = 'intended'",
      [id, state, silences],
    )
    : await db.execute(
      "UPDATE alert_silences SET lift = $2 WHERE id = $1 AND lift = 'intended'",
      [id, state],
    );
  return ended > 0;
}

/** Returns a silence by id, or undefined. */
export async function getSilence(db: Db, id: string): Promise<SilenceRecord | undefined> {
  return await db.first<SilenceRecord & Record<string, unknown>>(
    "SELECT id, ticket_id, service, state, lift, wanted, silences, ends_at FROM alert_silences WHERE id = $1",
    [id],
  );
}

/** Deletes silences that were over this many days ago. */
export async function pruneSilences(db: Db, days: number): Promise<void> {
  await db.execute(
    "DELETE FROM alert_silences WHERE ends_at < now() - make_interval(days => $1)",
    [days],
  );
}

/** Returns Alertmanager's ids of the platform's silences that are not over yet. */
export async function listOwnSilences(db: Db): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    "SELECT unnest(silences) AS id FROM alert_silences WHERE ends_at > now() - interval '1 minute'",
  );
  return new Set(rows.map(({ id }) => id));
}

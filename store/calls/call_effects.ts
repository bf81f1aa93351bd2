import type { Db } from "../connection.ts";

/** The things that one call made, noted so that they are found if its process dies before the call ends. */
export interface CallEffects {
  /** Ids of what the call made, by their names; public. */
  readonly ids: Readonly<Record<string, string>>;
  /** Further output of the call; private. */
  readonly output: Readonly<Record<string, unknown>> | null;
}

/** The same, read back. */
export interface NotedEffects extends CallEffects {
  /** Milliseconds since they were noted, by PostgreSQL's clock. */
  readonly ageMs: number;
  /** Database role of the process that noted them. */
  readonly storedBy: string;
}

/** Days that these notes are kept: much longer than it takes to find out how a call ended. */
export const CALL_EFFECTS_DAYS = 30;

/**
 * Notes what a call makes, once a call.
 *
 * Note it in the transaction that makes it: then the note is there exactly if the thing is. Or, for something outside
 * the database, right before it begins: then a missing note proves that nothing began.
 *
 * @param decisionId of the call; undefined: nobody will look for its effects, so nothing is noted
 */
export async function noteCallEffects(
  db: Db,
  decisionId: string | undefined,
  ids: CallEffects["ids"],
  output?: CallEffects["output"],
): Promise<void> {
  if (decisionId === undefined) return;
  await db.execute(
    "INSERT INTO call_effects (decision_id, ids, output) VALUES ($1, $2, $3)",
    [decisionId, JSON.stringify(ids), output ? JSON.stringify(output) : null],
  );
}

/** Returns the noted effects of a call; undefined: none are noted. */
export async function getCallEffects(
  db: Db,
  decisionId: string,
): Promise<NotedEffects | undefined> {
  return await db.first<NotedEffects>(
    `SELECT ids, output, (extract(epoch FROM clock_timestamp() - at) * 1000)::float8 AS "ageMs",
       stored_by AS "storedBy"
     FROM call_effects WHERE decision_id = $1`,
    [decisionId],
  );
}

/** Notes that the end of the act that a call has ordered is sealed. */
export async function noteActEnded(trx: Db, decisionId: string): Promise<void> {
  await trx.execute("UPDATE call_effects SET act_ended = true WHERE decision_id = $1", [
    decisionId,
  ]);
}

/** Deletes up to 1,000 notes that are older than {@linkcode CALL_EFFECTS_DAYS}. */
export async function pruneCallEffects(db: Db): Promise<void> {
  await db.execute(
    `DELETE FROM call_effects WHERE decision_id IN (
       SELECT decision_id FROM call_effects
       WHERE at < now() - make_interval(days => $1) ORDER BY at LIMIT 1000
     )`,
    [CALL_EFFECTS_DAYS],
  );
}

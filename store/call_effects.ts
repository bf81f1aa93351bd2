import type { Queryable } from "./connection.ts";

/** What is noted of what a call does. */
export interface CallEffects {
  /** Of what it makes, by their names; public. */
  readonly ids: Readonly<Record<string, string>>;
  /** What else it gives. */
  readonly output: Readonly<Record<string, unknown>> | null;
}

/** Days that notes are kept: much longer than it takes to find out what became of a call. */
export const CALL_EFFECTS_DAYS = 30;

/**
 * Notes what a call does: in the same transaction, and so the note is there exactly if that is; or right before it is
 * begun elsewhere, and so where there is no note nothing was begun. Once a call.
 *
 * @param decisionId of the call; undefined: nothing is noted, as nobody would look for it
 */
export async function noteCallEffects(
  on: Queryable,
  decisionId: string | undefined,
  ids: CallEffects["ids"],
  given?: CallEffects["output"],
): Promise<void> {
  if (decisionId === undefined) return;
  await on("call_traces").insert({
    ...{ decision_id: decisionId, ids: JSON.stringify(ids) },
    given: given ? JSON.stringify(given) : null,
  });
}

/** What is noted of a call; undefined: nothing. */
export async function getCallEffects(
  on: Queryable,
  decisionId: string,
): Promise<CallEffects | undefined> {
  return await on("call_traces").where({ decision_id: decisionId }).first("ids", "given");
}

/** Removes notes that nobody needs any more. */
export async function pruneCallEffects(on: Queryable): Promise<void> {
  await on.raw(
    `DELETE FROM call_traces WHERE decision_id IN (SELECT decision_id FROM call_traces
       WHERE at < now() - make_interval(days => ?) ORDER BY at LIMIT 1000)`,
    [CALL_EFFECTS_DAYS],
  );
}

/** Whether a call is found by what it does; one that a former version let run may not be. */
export async function leavesTraces(on: Queryable, decisionId: string): Promise<boolean> {
  const row = await on("governance_decisions").where({ id: decisionId }).first("traced");
  return row?.traced !== false;
}

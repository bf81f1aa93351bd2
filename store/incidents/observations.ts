import {
  type NumberedObservation,
  type Observation,
  OBSERVATION_SOURCES,
  type ObserverName,
} from "../../contract/domain/mod.ts";
import { keepComposedTexts } from "../composed_texts.ts";
import type { Db } from "../connection.ts";

/** A look of one source. */
export interface ObservedLook {
  readonly ticket_id: string;
  readonly run_id: string;
  /** From 1. */
  readonly round: number;
  readonly source: ObserverName;
}

/** Stores what a source saw. What an earlier attempt has stored stays. */
export async function addObservations(
  db: Db,
  { ticket_id, run_id, round, source }: ObservedLook,
  observations: readonly Observation[],
): Promise<void> {
  if (observations.length === 0) return;
  await keepComposedTexts(db, observations.map(({ says }) => says));
  await db.execute(
    `INSERT INTO observations (ticket_id, run_id, round, source, place, code, says, words, figures)
     SELECT $1, $2, $3, $4, place, code, says, coalesce(words, ''), coalesce(figures, '{}')
     FROM jsonb_to_recordset($5) AS n (place int, code text, says text, words text, figures jsonb)
     WHERE NOT EXISTS (SELECT FROM observations WHERE ticket_id = $1 AND run_id = $2 AND round = $3 AND source = $4)
     ON CONFLICT DO NOTHING`,
    [
      ticket_id,
      run_id,
      round,
      source,
      JSON.stringify(
        observations.map(({ text, ...rest }, place) => ({ ...rest, place, words: text })),
      ),
    ],
  );
}

/** Stores what a step of a runbook saw, once. @param number of the step */
export async function addStepObservation(
  db: Db,
  { ticket_id, run_id, round }: Omit<ObservedLook, "source">,
  number: number,
  { code, says, text = "", figures = {} }: Observation,
): Promise<void> {
  await keepComposedTexts(db, says);
  await db.execute(
    `INSERT INTO observations (ticket_id, run_id, round, source, place, code, says, words, figures)
     VALUES ($1, $2, $3, 'runbook', $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    [ticket_id, run_id, round, number, code, String(says), text, JSON.stringify(figures)],
  );
}

/** Returns what was seen for a ticket, in the order in which it is numbered. @param runId default: of all runs */
export async function listObservations(
  db: Db,
  ticketId: string,
  runId?: string,
): Promise<NumberedObservation[]> {
  const rows = await db.query(
    `SELECT * FROM observations WHERE ticket_id = $1 AND ($2::text IS NULL OR run_id = $2)
     ORDER BY min(seen_at) OVER (PARTITION BY run_id), run_id, round, array_position($3::text[], source), place`,
    [ticketId, runId, OBSERVATION_SOURCES],
  );
  return rows.map(({ round, source, code, says, words, figures }, index) => ({
    number: index + 1,
    round,
    source,
    code,
    says,
    ...(words ? { text: words } : {}),
    figures,
  }));
}

import type { Db } from "../connection.ts";

/** A note that somebody has written on an agent. It is data: no agent follows it. */
export interface AgentNote {
  readonly id: string;
  readonly text: string;
  /** Principal of the writer's key, or the id of a key without one. */
  readonly author: string;
  readonly at: string;
}

/** Adds a note. @returns when */
export async function addNote(
  trx: Db,
  agentId: string,
  { id, text, author }: Omit<AgentNote, "at">,
): Promise<string> {
  const row = await trx.first<{ at: Date }>(
    `INSERT INTO agent_notes (id, agent_id, text, author) VALUES ($1, $2, $3, $4) RETURNING at`,
    [id, agentId, text, author],
  );
  return row!.at.toISOString();
}

/** Returns the notes on an agent, newest first. */
export async function listNotes(db: Db, agentId: string): Promise<AgentNote[]> {
  const rows = await db.query(
    "SELECT id, text, author, at FROM agent_notes WHERE agent_id = $1 ORDER BY at DESC, id",
    [agentId],
  );
  return rows.map(({ id, text, author, at }) => ({ id, text, author, at: at.toISOString() }));
}

/** Counts the notes on an agent. */
export async function countNotes(db: Db, agentId: string): Promise<number> {
  const row = await db.first<{ notes: number }>(
    "SELECT count(*)::int AS notes FROM agent_notes WHERE agent_id = $1",
    [agentId],
  );
  return row!.notes;
}

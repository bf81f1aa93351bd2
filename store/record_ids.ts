import type { Db } from "./connection.ts";

/** How many of the newest ids an unknown one is compared with. */
const COMPARED = 500;

/** Statements that list the newest ids of a kind of record, those of the tenant alone. */
const NEWEST = {
  approval: "SELECT id FROM approvals ORDER BY asked_at DESC LIMIT $1",
  article: "SELECT id FROM articles ORDER BY created_at DESC LIMIT $1",
  contact: "SELECT id FROM contacts ORDER BY created_at DESC LIMIT $1",
  deal: "SELECT id FROM deals ORDER BY created_at DESC LIMIT $1",
  device: "SELECT id FROM devices ORDER BY enrolled_at DESC LIMIT $1",
  event: "SELECT id FROM calendar_events ORDER BY created_at DESC LIMIT $1",
  film: "SELECT id FROM video_projects ORDER BY created_at DESC LIMIT $1",
  grant: "SELECT id FROM grants ORDER BY made_at DESC LIMIT $1",
  item: "SELECT id FROM pipeline_items ORDER BY created_at DESC LIMIT $1",
  "learning item": "SELECT id FROM learning_items ORDER BY made_at DESC LIMIT $1",
  task: "SELECT id FROM board_tasks WHERE deleted_at IS NULL ORDER BY created_at DESC LIMIT $1",
  ticket: "SELECT id FROM tickets ORDER BY opened_at DESC LIMIT $1",
  transcript: "SELECT id FROM transcripts ORDER BY created_at DESC LIMIT $1",
} as const;

/** A kind of record that is known by a random id. */
export type RecordKind = keyof typeof NEWEST;

/** Kinds of records that are known by random ids. */
export const RECORD_KINDS = Object.keys(NEWEST) as RecordKind[];

/** Lists the newest ids of a kind of record, newest first. */
export async function listNewestIds(db: Db, kind: RecordKind): Promise<string[]> {
  return (await db.query<{ id: string }>(NEWEST[kind], [COMPARED])).map(({ id }) => id);
}

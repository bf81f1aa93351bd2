/** Tasks on the board. Those of A2A are others. */
import { say } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";
import { addMessage } from "../notices/mod.ts";

/** States of a task, in the order of the board. */
export const TASK_STATUSES = ["todo", "doing", "blocked", "done"] as const;

/** State of a task. */
type TaskStatus = typeof TASK_STATUSES[number];

/** Fields of a task that people write. */
export interface BoardTaskFields {
  readonly title: string;
  readonly description: string;
  readonly status: TaskStatus;
  /** Principal; null: nobody, or an agent. */
  readonly assignee: string | null;
  /** Null: no agent. */
  readonly agent_id: string | null;
  /** ISO 8601. */
  readonly due_at: string | null;
  readonly ticket_id: string | null;
}

/** A task on the board. */
export interface BoardTask extends BoardTaskFields {
  /** `TASK-` and 12 hex characters. */
  readonly task_id: string;
  /** From 1; grows with each change. */
  readonly version: number;
  /** Principal. */
  readonly created_by: string;
  readonly created_at: string;
  readonly changed_at: string;
  /** Null: it was not deleted. */
  readonly deleted_at: string | null;
}

/** Selects tasks. Fields that are left out match everything. */
export interface BoardTaskFilter {
  readonly status?: TaskStatus | undefined;
  readonly agent_id?: string | undefined;
  readonly assignee?: string | undefined;
  readonly ticket_id?: string | undefined;
  /** Only tasks older than this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Adds a task to the board. */
export async function addBoardTask(
  trx: Db,
  id: string,
  createdBy: string,
  { title, description, status, assignee, agent_id, due_at, ticket_id }: BoardTaskFields,
): Promise<BoardTask> {
  const row = await trx.first(
    `INSERT INTO board_tasks (id, created_by, title, description, status, assignee, agent_id, due_at, ticket_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING *`,
    [id, createdBy, title, description, status, assignee, agent_id, due_at, ticket_id],
  );
  return toTask(row!);
}

/** Returns a task, a deleted one too; or undefined. */
export async function getBoardTask(db: Db, id: string): Promise<BoardTask | undefined> {
  const row = await db.first("SELECT * FROM board_tasks WHERE id = $1", [id]);
  return row && toTask(row);
}

/** Returns a task and locks it until the transaction ends, or undefined. */
export async function lockBoardTask(trx: Db, id: string): Promise<BoardTask | undefined> {
  const row = await trx.first("SELECT * FROM board_tasks WHERE id = $1 FOR UPDATE", [id]);
  return row && toTask(row);
}

/** Writes the fields of a task, which the caller has locked. A new due date is told anew. */
export async function updateBoardTask(
  trx: Db,
  id: string,
  { title, description, status, assignee, agent_id, due_at, ticket_id }: BoardTaskFields,
): Promise<BoardTask> {
  const row = await trx.first(
    `UPDATE board_tasks SET title = $2, description = $3, status = $4, assignee = $5, agent_id = $6, due_at = $7,
       ticket_id = $8, due_told_at = CASE WHEN due_at IS NOT DISTINCT FROM $7 THEN due_told_at END,
       version = version + 1, changed_at = clock_timestamp()
     WHERE id = $1 RETURNING *`,
    [id, title, description, status, assignee, agent_id, due_at, ticket_id],
  );
  return toTask(row!);
}

/** Deletes a task, which the caller has locked. It stays as a record that nobody lists. */
export async function deleteBoardTask(trx: Db, id: string): Promise<BoardTask> {
  const row = await trx.first(
    `UPDATE board_tasks SET deleted_at = clock_timestamp(), changed_at = clock_timestamp(), version = version + 1
     WHERE id = $1 RETURNING *`,
    [id],
  );
  return toTask(row!);
}

/** Returns tasks, newest first, and how many the filter selects, whatever their age. */
export async function listBoardTasks(
  db: Db,
  { status, agent_id, assignee, ticket_id, before, limit }: BoardTaskFilter,
): Promise<{ readonly total: number; readonly tasks: BoardTask[] }> {
  const filter = [status, agent_id, assignee, ticket_id];
  const [count, rows] = await Promise.all([
    db.first<{ total: number }>(
      `SELECT count(*)::int AS total FROM board_tasks WHERE deleted_at IS NULL
         AND ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR agent_id = $2)
         AND ($3::text IS NULL OR assignee = $3) AND ($4::text IS NULL OR ticket_id = $4)`,
      filter,
    ),
    db.query(
      `SELECT * FROM board_tasks WHERE deleted_at IS NULL
         AND ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR agent_id = $2)
         AND ($3::text IS NULL OR assignee = $3) AND ($4::text IS NULL OR ticket_id = $4)
         AND ($5::text IS NULL OR (created_at, id) < (SELECT created_at, id FROM board_tasks WHERE id = $5))
       ORDER BY created_at DESC, id DESC LIMIT $6`,
      [...filter, before, limit],
    ),
  ]);
  return { total: count!.total, tasks: rows.map(toTask) };
}

/** Tasks that are told of at a time. */
const MAX_DUE = 200;

/**
 * Tells the feed of tasks that are due by the database's clock, each once for each due date. Safe to repeat, and to run in
 * several workers at once.
 *
 * @returns how many were told of
 */
export async function tellDueTasks(db: Db): Promise<number> {
  return await db.transaction(async (trx) => {
    const rows = await trx.query(
      `UPDATE board_tasks SET due_told_at = now() WHERE id IN (
         SELECT id FROM board_tasks
         WHERE due_at <= now() AND due_told_at IS NULL AND deleted_at IS NULL AND status <> 'done'
         ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING *`,
      [MAX_DUE],
    );
    for (const row of rows) await tellDue(trx, toTask(row));
    return rows.length;
  });
}

async function tellDue(
  trx: Db,
  { task_id, title, status, assignee, agent_id, due_at, ticket_id }: BoardTask,
): Promise<void> {
  const whose = assignee ?? agent_id;
  await addMessage(trx, {
    kind: "task.due",
    from: "board",
    subject: say`Due: ${title}`,
    text: say`${task_id} of ${whose ?? say`nobody`} is ${status} and was due at ${due_at}`,
    refs: { task_id, ...(ticket_id ? { ticket_id } : {}) },
    key: `task-due-${task_id}-${due_at}`,
  });
}

function toTask(row: Row): BoardTask {
  return {
    task_id: row.id,
    title: row.title,
    description: row.description,
    status: row.status,
    assignee: row.assignee,
    agent_id: row.agent_id,
    due_at: row.due_at?.toISOString() ?? null,
    ticket_id: row.ticket_id,
    version: row.version,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    changed_at: row.changed_at.toISOString(),
    deleted_at: row.deleted_at?.toISOString() ?? null,
  };
}

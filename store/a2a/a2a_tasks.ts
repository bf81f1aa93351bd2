import type { Db } from "../connection.ts";

/** Notification channel of the ids of tasks that have changed. */
export const TASKS_CHANGED = "a2a_tasks";

/** The fields of a task that the store reads; the whole record is stored as JSON. */
export interface StoredTask {
  readonly id: string;
  readonly context_id: string;
  /** Public id of the key that asked for it. */
  readonly key_id: string;
  readonly state: string;
  /** Grows with each change, from 0. */
  readonly version: number;
}

/** Days that a task which has ended can still be read. */
const RETENTION_DAYS = 30;

/** Stores a task as it is now, unless a later version is stored already. Notifies its readers. */
export async function putTask(db: Db, task: StoredTask): Promise<void> {
  const { id, context_id, key_id, state, version } = task;
  const stored = await db.execute(
    `INSERT INTO a2a_tasks AS t (id, context_id, key_id, state, version, record) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (tenant_id, id) DO UPDATE SET state = excluded.state, version = excluded.version, record = excluded.record,
       updated_at = now() WHERE t.version < excluded.version RETURNING pg_notify($7, id)`,
    [id, context_id, key_id, state, version, JSON.stringify(task), TASKS_CHANGED],
  );
  if (stored > 0 && version === 0) await pruneTasks(db);
}

/** Returns a task of this key, or undefined. */
export async function getTask<T extends StoredTask>(
  db: Db,
  id: string,
  keyId: string,
): Promise<T | undefined> {
  const row = await db.first<{ record: T }>(
    "SELECT record FROM a2a_tasks WHERE id = $1 AND key_id = $2",
    [id, keyId],
  );
  return row?.record;
}

/** Returns a task of any key, for the platform itself. */
export async function getTaskOfAnyKey<T extends StoredTask>(
  db: Db,
  id: string,
): Promise<T | undefined> {
  const row = await db.first<{ record: T }>("SELECT record FROM a2a_tasks WHERE id = $1", [id]);
  return row?.record;
}

/** Deletes a task whose workflow could not be started. */
export async function dropTask(db: Db, id: string): Promise<void> {
  await db.execute("DELETE FROM a2a_tasks WHERE id = $1 AND version = 0", [id]);
}

/** Lists the ids of a key's open tasks that wait for an approval, or do what it allows. */
export async function listTasksOfApproval(
  db: Db,
  keyId: string,
  approvalId: string,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `SELECT id FROM a2a_tasks WHERE key_id = $1 AND record->>'approval_id' = $2
       AND state IN ('submitted', 'working', 'input-required')`,
    [keyId, approvalId],
  );
  return rows.map(({ id }) => id);
}

/** Selects tasks of a key. */
export interface TaskFilter {
  readonly keyId: string;
  readonly contextId?: string;
  readonly state?: string;
  readonly limit: number;
  readonly offset: number;
}

/** Lists a key's tasks, the last changed first, and counts all that match. */
export async function listTasks<T extends StoredTask>(
  db: Db,
  { keyId, contextId, state, limit, offset }: TaskFilter,
): Promise<{ total: number; tasks: T[] }> {
  const rows = await db.query<{ record: T }>(
    `SELECT record FROM a2a_tasks
     WHERE key_id = $1 AND ($2::text IS NULL OR context_id = $2) AND ($3::text IS NULL OR state = $3)
     ORDER BY updated_at DESC, id LIMIT $4 OFFSET $5`,
    [keyId, contextId, state, limit, offset],
  );
  const count = await db.first<{ total: number }>(
    `SELECT count(*)::int AS total FROM a2a_tasks
     WHERE key_id = $1 AND ($2::text IS NULL OR context_id = $2) AND ($3::text IS NULL OR state = $3)`,
    [keyId, contextId, state],
  );
  return { total: count!.total, tasks: rows.map(({ record }) => record) };
}

async function pruneTasks(db: Db): Promise<void> {
  await db.execute(
    `DELETE FROM a2a_tasks WHERE id IN (SELECT id FROM a2a_tasks
       WHERE updated_at < now() - make_interval(days => $1) ORDER BY updated_at LIMIT 100)`,
    [RETENTION_DAYS],
  );
}

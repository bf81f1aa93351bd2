import type { Queryable } from "./connection.ts";

/** Channel that a task's id is told on whenever what is shown of it changes. */
export const TASKS_CHANGED = "a2a_tasks";

/** What is shown of a task; `Rest` is what the workflows make of it. */
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
const KEPT_DAYS = 30;

/** Shows a task as it is now, unless a later version is shown already. */
export async function putTask(on: Queryable, task: StoredTask): Promise<void> {
  const { id, context_id, key_id, state, version } = task;
  const { rows } = await on.raw(
    `INSERT INTO a2a_tasks AS t (id, context_id, key_id, state, version, record) VALUES (?, ?, ?, ?, ?, ?::json)
     ON CONFLICT (id) DO UPDATE SET state = excluded.state, version = excluded.version, record = excluded.record,
       updated_at = now() WHERE t.version < excluded.version RETURNING pg_notify(?, id)`,
    [id, context_id, key_id, state, version, JSON.stringify(task), TASKS_CHANGED],
  );
  if (rows.length > 0 && version === 0) await forgetTasks(on);
}

/** A task, as only its own key may see it. */
export async function getTask<T extends StoredTask>(
  on: Queryable,
  id: string,
  keyId: string,
): Promise<T | undefined> {
  const row = await on("a2a_tasks").where({ id, key_id: keyId }).first("record");
  return row?.record;
}

/** A task, whosever it is: for the platform itself. */
export async function getTaskOfAnyKey<T extends StoredTask>(
  on: Queryable,
  id: string,
): Promise<T | undefined> {
  return (await on("a2a_tasks").where({ id }).first("record"))?.record;
}

/** Removes one that has come to nothing, as its workflow could not be started. */
export async function dropTask(on: Queryable, id: string): Promise<void> {
  await on("a2a_tasks").where({ id, version: 0 }).delete();
}

/** Ids of a key's tasks that wait for an approval, or do what it allows. */
export async function listTasksOfApproval(
  on: Queryable,
  keyId: string,
  approvalId: string,
): Promise<string[]> {
  const { rows } = await on.raw(
    `SELECT id FROM a2a_tasks WHERE key_id = ? AND record->>'approval_id' = ?
       AND state IN ('submitted', 'working', 'input-required')`,
    [keyId, approvalId],
  );
  return rows.map(({ id }: { id: string }) => id);
}

/** Which tasks to list. */
export interface TaskFilter {
  readonly keyId: string;
  readonly contextId?: string;
  readonly state?: string;
  readonly limit: number;
  readonly offset: number;
}

/** A key's tasks, those that have changed last first. */
export async function listTasks<T extends StoredTask>(
  on: Queryable,
  { keyId, contextId, state, limit, offset }: TaskFilter,
): Promise<{ total: number; tasks: T[] }> {
  const wanted = {
    key_id: keyId,
    ...(contextId ? { context_id: contextId } : {}),
    ...(state ? { state } : {}),
  };
  const [rows, [counted]] = await Promise.all([
    on("a2a_tasks").where(wanted).orderBy("updated_at", "desc").orderBy("id").limit(limit)
      .offset(offset).select("record"),
    on("a2a_tasks").where(wanted).count("* as n"),
  ]);
  return { total: Number(counted!.n), tasks: rows.map(({ record }) => record) };
}

async function forgetTasks(on: Queryable): Promise<void> {
  await on.raw(
    `DELETE FROM a2a_tasks WHERE id IN (SELECT id FROM a2a_tasks
       WHERE updated_at < now() - make_interval(days => ?) ORDER BY updated_at LIMIT 100)`,
    [KEPT_DAYS],
  );
}

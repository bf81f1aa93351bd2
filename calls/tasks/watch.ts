import { type TaskRecord, TERMINAL_STATES } from "../../domain/mod.ts";
import { getTask, listen, listTasks, TASKS_CHANGED } from "../../store/mod.ts";
import type { Platform } from "../platform.ts";
import { beginCall, beginTask, type OpenCall, type PendingApproval, waitingTask } from "./begin.ts";
import { withActualState } from "./lost.ts";
import { findOpenedTask, type OpenedTask, type OpeningMessage } from "./messages.ts";

/** Reads and opens A2A tasks; a key sees its own tasks alone. */
export interface TaskWatch {
  get(id: string, keyId: string): Promise<TaskRecord | undefined>;
  /** Returns a page of tasks, the one that changed last first. */
  list(
    keyId: string,
    page: { contextId?: string; state?: string; limit: number; offset: number },
  ): Promise<{ total: number; tasks: TaskRecord[] }>;
  /**
   * Yields a task as it is, and again after each change, until it has ended.
   *
   * @param fromVersion version to begin with
   */
  follow(
    id: string,
    keyId: string,
    fromVersion: number,
    signal: AbortSignal,
  ): AsyncGenerator<TaskRecord, void, undefined>;
  /** Returns the task that a message has opened, or the id of the task that it opens. */
  findOpened(message: OpeningMessage): Promise<OpenedTask>;
  /** Opens the task of a call that does not end at once. @throws {Problem} `Unavailable`: there is no such task */
  begin(call: OpenCall): Promise<TaskRecord>;
  /** Opens the task of a message that people are asked about. @throws {Problem} `Unavailable`: there is no such task */
  beginWaiting(task: TaskRecord, approval: PendingApproval): Promise<TaskRecord>;
  close(): Promise<void>;
}

/** After this time a change is seen whose notification was lost. */
const POLL_MS = 5_000;

/** Opens a watch, with a database connection of its own for notifications. */
export async function watchTasks(
  platform: Pick<Platform, "store" | "temporal">,
): Promise<TaskWatch> {
  const { store } = platform;
  const db = store.asPlatform();
  const listeners = new Map<string, Set<() => void>>();
  const notifyAll = () => {
    for (const set of listeners.values()) for (const notify of set) notify();
  };
  const listener = await listen(store, [TASKS_CHANGED], {
    onNotify: (_, id) => listeners.get(id)?.forEach((notify) => notify()),
    onConnect: notifyAll,
  });
  const read = (id: string, keyId: string) => getTask<TaskRecord>(db, id, keyId);
  const readActual = async (id: string, keyId: string) => {
    const task = await read(id, keyId);
    return task && await withActualState(platform, task);
  };

  /** Listens before the first read, so that no change is missed in between. */
  async function* follow(id: string, keyId: string, fromVersion: number, signal: AbortSignal) {
    let notified = true;
    let wake = () => {};
    const notify = () => {
      notified = true;
      wake();
    };
    const set = listeners.get(id) ?? new Set();
    listeners.set(id, set.add(notify));
    signal.addEventListener("abort", notify);
    try {
      for (let next = fromVersion; !signal.aborted;) {
        const readTask = notified ? read : readActual;
        notified = false;
        const task = await readTask(id, keyId);
        if (!task) return;
        if (task.version >= next) {
          yield task;
          next = task.version + 1;
        }
        if (TERMINAL_STATES.has(task.state)) return;
        if (!notified && !signal.aborted) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, POLL_MS);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
      }
    } finally {
      signal.removeEventListener("abort", notify);
      set.delete(notify);
      if (set.size === 0) listeners.delete(id);
    }
  }

  return {
    get: readActual,
    list: (keyId, page) => listTasks<TaskRecord>(db, { keyId, ...page }),
    follow,
    async findOpened(message) {
      const opened = await findOpenedTask(platform, message);
      return "task" in opened ? { task: await withActualState(platform, opened.task) } : opened;
    },
    begin: (call) => beginCall(platform, call),
    beginWaiting: (task, approval) => beginTask(platform, waitingTask(task, approval)),
    close: () => listener.close(),
  };
}

import { type TaskRecord, TERMINAL_STATES } from "../../../contract/domain/mod.ts";
import { listen } from "../../../store/mod.ts";
import { beginCall, beginTask, type OpenCall, type PendingApproval, waitingTask } from "./begin.ts";
import { withActualState } from "./lost.ts";
import { findOpenedTask, type OpenedTask, type OpeningMessage } from "./messages.ts";
import { getTask, listTasks, TASKS_CHANGED } from "../../../store/a2a/mod.ts";
import { forTenant, type Platform } from "../../../calls/mod.ts";

/** The key whose tasks are read. */
interface TaskOwner {
  readonly tenant: string;
  readonly keyId: string;
}

/** Reads and opens A2A tasks; a key sees its own tasks alone. */
export interface TaskWatch {
  get(id: string, owner: TaskOwner): Promise<TaskRecord | undefined>;
  /** Returns a page of tasks, the one that changed last first. */
  list(
    owner: TaskOwner,
    page: { contextId?: string; state?: string; limit: number; offset: number },
  ): Promise<{ total: number; tasks: TaskRecord[] }>;
  /**
   * Yields a task as it is, and again after each change, until it has ended.
   *
   * @param fromVersion version to begin with
   */
  follow(
    id: string,
    owner: TaskOwner,
    fromVersion: number,
    signal: AbortSignal,
  ): AsyncGenerator<TaskRecord, void, undefined>;
  /** Returns the task that a message has opened, or the id of the task that it opens. */
  findOpened(message: OpeningMessage, owner: TaskOwner): Promise<OpenedTask>;
  /** Opens the task of a call that does not end at once. @throws {Problem} `Unavailable`: there is no such task */
  begin(call: OpenCall, owner: TaskOwner): Promise<TaskRecord>;
  /** Opens the task of a message that people are asked about. @throws {Problem} `Unavailable`: there is no such task */
  beginWaiting(
    task: TaskRecord,
    approval: PendingApproval,
    owner: TaskOwner,
  ): Promise<TaskRecord>;
  close(): Promise<void>;
}

/** After this time a change is seen whose notification was lost. */
const POLL_MS = 5_000;

/** Opens a watch, with a database connection of its own for notifications. */
export async function watchTasks(
  platform: Pick<Platform, "store" | "temporal">,
): Promise<TaskWatch> {
  const { store } = platform;
  const listeners = new Map<string, Set<() => void>>();
  const notifyAll = () => {
    for (const set of listeners.values()) for (const notify of set) notify();
  };
  const listener = await listen(store, [TASKS_CHANGED], {
    onNotify: (_, id) => listeners.get(id)?.forEach((notify) => notify()),
    onConnect: notifyAll,
  });
  const partsOf = ({ tenant }: TaskOwner) => forTenant(platform, tenant);
  const read = (id: string, { tenant, keyId }: TaskOwner) =>
    getTask<TaskRecord>(store.asTenant(tenant), id, keyId);
  const readActual = async (id: string, owner: TaskOwner) => {
    const task = await read(id, owner);
    return task && await withActualState(partsOf(owner), task);
  };

  /** Listens before the first read, so that no change is missed in between. */
  async function* follow(id: string, owner: TaskOwner, fromVersion: number, signal: AbortSignal) {
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
        const task = await readTask(id, owner);
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
    list: ({ tenant, keyId }, page) =>
      listTasks<TaskRecord>(store.asTenant(tenant), { keyId, ...page }),
    follow,
    async findOpened(message, owner) {
      const parts = partsOf(owner);
      const opened = await findOpenedTask(parts, message);
      return "task" in opened ? { task: await withActualState(parts, opened.task) } : opened;
    },
    begin: (call, owner) => beginCall(partsOf(owner), call),
    beginWaiting: (task, approval, owner) => beginTask(partsOf(owner), waitingTask(task, approval)),
    close: () => listener.close(),
  };
}

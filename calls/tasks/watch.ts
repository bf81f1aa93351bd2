import { ENDS, type TaskRecord } from "../../domain/mod.ts";
import { getTask, listen, listTasks, TASKS_CHANGED } from "../../store/mod.ts";
import { asItStands } from "./_lost_tasks.ts";
import { beginCall, beginTask, type Held, heldTask, type OpenCall } from "./begin.ts";
import { type Opened, openedBy, type Sent } from "./sent_messages.ts";
import type { Platform } from "../platform.ts";

/** Tasks as they are shown, a key its own alone, and as they are opened by what was decided elsewhere. */
export interface TaskWatch {
  get(id: string, keyId: string): Promise<TaskRecord | undefined>;
  /** A page of them, those that changed last first. */
  list(
    keyId: string,
    page: { contextId?: string; state?: string; limit: number; offset: number },
  ): Promise<{ total: number; tasks: TaskRecord[] }>;
  /**
   * Gives a task as it is, and again whenever it has changed, until it has ended.
   *
   * @param least version to begin with
   */
  follow(
    id: string,
    keyId: string,
    least: number,
    signal: AbortSignal,
  ): AsyncGenerator<TaskRecord, void, undefined>;
  /** The task that a message has opened, or the id of the one that it opens. */
  opened(sent: Sent): Promise<Opened>;
  /** Opens the task of a call that is not done at once. @throws {Problem} `Unavailable`: there is no such task */
  begin(call: OpenCall): Promise<TaskRecord>;
  /** Opens the task of a message that people are asked about. @throws {Problem} `Unavailable`, likewise */
  hold(task: TaskRecord, held: Held): Promise<TaskRecord>;
  close(): Promise<void>;
}

/** A change whose notification was lost, as the connection broke, is seen after this. */
const LOOK_AGAIN_MS = 5_000;

/** Opens one, with a connection of its own. */
export async function watchTasks(
  platform: Pick<Platform, "store" | "temporal">,
): Promise<TaskWatch> {
  const { store } = platform;
  const waiting = new Map<string, Set<() => void>>();
  const wakeAll = () => [...waiting.values()].forEach((set) => set.forEach((wake) => wake()));
  const listener = await listen(store, [TASKS_CHANGED], {
    onNotify: (_, id) => waiting.get(id)?.forEach((wake) => wake()),
    onConnect: wakeAll,
  });
  const look = (id: string, keyId: string) => getTask<TaskRecord>(store.asPlatform(), id, keyId);
  const get = async (id: string, keyId: string) => {
    const task = await look(id, keyId);
    return task && await asItStands(platform, task);
  };

  /** Listens before the first look, so that no change falls between the two. */
  async function* follow(id: string, keyId: string, least: number, signal: AbortSignal) {
    let told = true;
    let wake = () => {};
    const notify = () => {
      told = true;
      wake();
    };
    const set = waiting.get(id) ?? new Set();
    waiting.set(id, set.add(notify));
    signal.addEventListener("abort", notify);
    try {
      for (let next = least; !signal.aborted;) {
        const read = told ? look : get;
        told = false;
        const task = await read(id, keyId);
        if (!task) return;
        if (task.version >= next) {
          yield task;
          next = task.version + 1;
        }
        if (ENDS.has(task.state)) return;
        if (!told && !signal.aborted) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, LOOK_AGAIN_MS);
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
      if (set.size === 0) waiting.delete(id);
    }
  }

  return {
    get,
    list: (keyId, page) => listTasks<TaskRecord>(store.asPlatform(), { keyId, ...page }),
    follow,
    async opened(sent) {
      const opened = await openedBy(platform, sent);
      return "task" in opened ? { task: await asItStands(platform, opened.task) } : opened;
    },
    begin: (call) => beginCall(platform, call),
    hold: (task, held) => beginTask(platform, heldTask(task, held)),
    close: () => listener.close(),
  };
}

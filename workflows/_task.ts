import { condition, setCurrentDetails, uuid4 } from "@temporalio/workflow";
import {
  type TaskMessage,
  type TaskRecord,
  type TaskState,
  TERMINAL_STATES,
} from "../domain/mod.ts";
import { perform, QUICK } from "./_options.ts";

/** A task that a workflow drives, and what its asker sees of it. */
export interface ShownTask {
  /** As it is now. */
  readonly task: TaskRecord;
  /** Changes it, and shows it. @param by that shows it, where it adds what is too large for a workflow */
  move(
    state: TaskState,
    change?: Partial<TaskRecord>,
    by?: (task: TaskRecord) => Promise<unknown>,
  ): Promise<void>;
  /** Waits until it has ended, and that is shown. */
  ended(): Promise<TaskRecord>;
}

/** Begins to keep a task. */
export function keepTask(first: TaskRecord): ShownTask {
  let task = first;
  let shown = 0;
  const show = async (by: (task: TaskRecord) => Promise<unknown>) => {
    const { version } = task;
    await by(task);
    shown = Math.max(shown, version);
  };
  return {
    get task() {
      return task;
    },
    move(state, change = {}, by = plainly) {
      const version = task.version + 1;
      task = { ...task, ...change, state, version, since: new Date().toISOString() };
      setCurrentDetails(`**${state}** · ${task.history.length} messages`);
      return show(by);
    },
    async ended() {
      await condition(() => TERMINAL_STATES.has(task.state) && shown === task.version);
      return task;
    },
  };
}

const plainly = (task: TaskRecord) => perform(QUICK, `Shows it as ${task.state}`).storeTask(task);

/** The change by which the agent says something that stays. */
export function said(task: TaskRecord, text: string): Partial<TaskRecord> {
  const message = saying(text);
  return { said: message, history: [...task.history, message] };
}

/** What the agent says. */
export const saying = (text: string): TaskMessage => ({
  ...{ message_id: uuid4(), role: "agent", parts: [{ text }] },
});

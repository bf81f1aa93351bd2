import { ApplicationFailure, condition, setCurrentDetails, uuid4 } from "@temporalio/workflow";
import {
  type TaskMessage,
  type TaskRecord,
  type TaskState,
  TERMINAL_STATES,
} from "../contract/domain/mod.ts";
import { perform, QUICK } from "./_options.ts";

/** An A2A task that a workflow drives. */
export interface OpenTask {
  /** The task as it is now. */
  readonly task: TaskRecord;
  /**
   * Changes the task, and stores it for its client.
   *
   * @param store stores it; default: as it is
   */
  move(
    state: TaskState,
    change?: Partial<TaskRecord>,
    store?: (task: TaskRecord) => Promise<void>,
  ): Promise<void>;
  /** Waits until the task has ended and is stored. */
  ended(): Promise<TaskRecord>;
}

/** Opens a task. @param first version 0, or as an earlier run left it */
export function openTask(first: TaskRecord): OpenTask {
  let task = first;
  let storedVersion = 0;
  return {
    get task() {
      return task;
    },
    async move(state, change = {}, store = storeAsItIs) {
      const version = task.version + 1;
      task = { ...task, ...change, state, version, since: new Date().toISOString() };
      setCurrentDetails(`**${state}** · ${task.history.length} messages`);
      await store(task);
      storedVersion = Math.max(storedVersion, version);
    },
    async ended() {
      await condition(() => TERMINAL_STATES.has(task.state) && storedVersion === task.version);
      return task;
    },
  };
}

function storeAsItIs(task: TaskRecord): Promise<void> {
  return perform(QUICK, `Stores the task as ${task.state}`).storeTask(task);
}

/** @throws {ApplicationFailure} `Conflict`: the task has ended */
export function assertOpen({ id, state }: TaskRecord): void {
  if (TERMINAL_STATES.has(state)) throw conflict(`Task ${id} has ended: ${state}`);
}

/** Returns the failure of a request that the state of a task does not allow. */
export function conflict(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, "Conflict");
}

/** Returns the change by which the agent adds a message to the history. */
export function reply(task: TaskRecord, text: string): Partial<TaskRecord> {
  const message = agentMessage(text);
  return { said: message, history: [...task.history, message] };
}

/** Returns a message of the agent. */
export function agentMessage(text: string): TaskMessage {
  return { message_id: uuid4(), role: "agent", parts: [{ text }] };
}

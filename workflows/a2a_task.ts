import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  defineUpdate,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  uuid4,
  workflowInfo,
} from "@temporalio/workflow";
import { perform, QUICK } from "./_options.ts";
import {
  ENDS,
  MOST_CHARACTERS,
  MOST_MESSAGES,
  type TaskArtifact,
  type TaskMessage,
  type TaskPart,
  type TaskRecord,
  type TaskState,
} from "./a2a_types.ts";
import { reasoning } from "./reasoning.ts";
import type { ReasoningResult } from "./reasoning_types.ts";

/** Says something more in a task. Gives the task as it is then. */
export const sayUpdate = defineUpdate<TaskRecord, [TaskMessage]>("say");
/** Ends a task that is open. Gives it as it has ended. */
export const cancelUpdate = defineUpdate<TaskRecord>("cancel");

/** A question that nobody answers for so long is given up. */
const PATIENCE = "24h";
/** Characters that the pipeline takes; of a long conversation the end. */
const MOST_PROMPT = 8_000;

/**
 * A conversation with an agent: what it says goes to the reasoning pipeline, until that can answer.
 *
 * @param first the task as submitted, version 0, with its first message in the history
 */
export async function a2aTask(first: TaskRecord): Promise<TaskRecord> {
  let task = first;
  let unread = 1;
  let canceled = false;
  let running: CancellationScope | undefined;
  let shown = 0;
  const show = async () => {
    const { version, state } = task;
    await perform(QUICK, `Shows it as ${state}`).showTask(task);
    shown = Math.max(shown, version);
  };

  function move(state: TaskState, change: Partial<TaskRecord> = {}): Promise<void> {
    const version = task.version + 1;
    task = { ...task, ...change, state, version, since: new Date().toISOString() };
    setCurrentDetails(`**${state}** · ${task.history.length} messages`);
    return show();
  }

  setHandler(sayUpdate, async (message) => {
    unread++;
    await move("working", { history: [...task.history, message] });
    return task;
  }, { validator: (message) => refuseMore(task, message) });

  setHandler(cancelUpdate, async () => {
    canceled = true;
    running?.cancel();
    await condition(() => ENDS.has(task.state) && shown === task.version);
    return task;
  }, { validator: () => refuseEnded(task) });

  try {
    await converse();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() =>
      move("canceled", said(task, "Canceled by an operator"))
    );
  }
  await condition(allHandlersFinished);
  return task;

  async function converse(): Promise<void> {
    for (let round = 1; !ENDS.has(task.state); round++) {
      if (!await condition(() => unread > 0 || canceled, PATIENCE)) {
        return await move(
          "failed",
          said(task, "Nobody answered for a day, so this task is given up"),
        );
      }
      unread = 0;
      if (!canceled && task.state !== "working") await move("working");
      const result = canceled ? undefined : await answered(round);
      if (canceled) await move("canceled", said(task, "Canceled, as was asked for"));
      else if (unread === 0) await move(...outcome(result));
    }
  }

  async function answered(round: number): Promise<ReasoningResult | undefined> {
    running = new CancellationScope();
    try {
      return await running.run(() =>
        executeChild(reasoning, {
          workflowId: `reasoning-${task.id}-${round}`,
          args: [{ prompt: promptOf(task), requested_by: workflowInfo().workflowId }],
          parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        })
      );
    } catch (error) {
      if (isCancellation(error) && !canceled) throw error; // by an operator, of the whole workflow
      return undefined;
    }
  }

  function outcome(result: ReasoningResult | undefined): [TaskState, Partial<TaskRecord>] {
    if (!result) return ["failed", said(task, "The pipeline failed to answer; ask again later")];
    const { outcome, answer, citations, steps } = result;
    if (outcome === "input_required") return ["input-required", said(task, answer)];
    if (outcome === "refused") return ["rejected", said(task, answer)];
    const artifact: TaskArtifact = {
      artifact_id: uuid4(),
      name: "answer",
      parts: [{ text: answer }, { data: { citations, steps } }],
    };
    return ["completed", { ...said(task, answer), artifacts: [artifact] }];
  }
}

/** The change by which the agent says something. */
function said(task: TaskRecord, text: string): Partial<TaskRecord> {
  const message: TaskMessage = { message_id: uuid4(), role: "agent", parts: [{ text }] };
  return { said: message, history: [...task.history, message] };
}

/** What the asker said in the task, the newest last. */
function promptOf({ history }: TaskRecord): string {
  return history.filter(({ role }) => role === "user")
    .flatMap(({ parts }) => parts.map(textOf)).join("\n").slice(-MOST_PROMPT).trim() || "-";
}

const textOf = (part: TaskPart) => "text" in part ? part.text : JSON.stringify(part.data);

function refuseEnded({ id, state }: TaskRecord): void {
  if (ENDS.has(state)) {
    throw ApplicationFailure.nonRetryable(`Task ${id} has ended: ${state}`, "Conflict");
  }
}

function refuseMore(task: TaskRecord, message: TaskMessage): void {
  refuseEnded(task);
  if (task.history.some(({ message_id }) => message_id === message.message_id)) {
    throw ApplicationFailure.nonRetryable(
      `Message ${message.message_id} is already in task ${task.id}`,
      "Conflict",
    );
  }
  const characters = JSON.stringify([task.history, message]).length;
  if (task.history.length >= MOST_MESSAGES || characters > MOST_CHARACTERS) {
    throw ApplicationFailure.nonRetryable(
      `Task ${task.id} takes no more: at most ${MOST_MESSAGES} messages and ${MOST_CHARACTERS} characters; start another`,
      "TooLarge",
    );
  }
}

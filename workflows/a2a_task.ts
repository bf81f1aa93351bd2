import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  uuid4,
  workflowInfo,
} from "@temporalio/workflow";
import {
  cancelUpdate,
  MAX_CHARACTERS,
  MAX_MESSAGES,
  type ReasoningResult,
  sayUpdate,
  type TaskArtifact,
  type TaskMessage,
  type TaskPart,
  type TaskRecord,
  type TaskState,
  TERMINAL_STATES,
} from "../domain/mod.ts";
import { untilRuled, whyNot } from "./_held_call.ts";
import { keepTask, said, saying } from "./_task.ts";
import { reasoning } from "./reasoning.ts";

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
  const shown = keepTask(first);
  const { move } = shown;
  let unread = 1;
  let canceled = false;
  let held = first.approval_id !== undefined;
  let running: CancellationScope | undefined;

  setHandler(sayUpdate, async (message) => {
    unread++;
    await move("working", { history: [...shown.task.history, message] });
    return shown.task;
  }, { validator: (message) => refuseMore(shown.task, message, held) });

  setHandler(cancelUpdate, async () => {
    canceled = true;
    running?.cancel();
    return await shown.ended();
  }, { validator: () => refuseEnded(shown.task) });

  try {
    if (first.approval_id !== undefined) await release(first.approval_id);
    await converse();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() =>
      move("canceled", said(shown.task, "Canceled by an operator"))
    );
  }
  await condition(allHandlersFinished);
  return shown.task;

  /** Waits until people let it begin; the end of that call is what lets it. */
  async function release(approval_id: string): Promise<void> {
    const working = () => move("working", { said: saying(`${approval_id} is approved`) });
    const call = await untilRuled({ ...first, approval_id }, () => canceled, working);
    held = false;
    if (!call) await move("canceled", said(shown.task, "Canceled, as was asked for"));
    else if (call.state !== "done") {
      const refused = ["denied", "expired", "refused"].includes(call.state);
      const why = whyNot(approval_id, call);
      await move(refused ? "rejected" : "failed", said(shown.task, why));
    }
  }

  async function converse(): Promise<void> {
    for (let round = 1; !TERMINAL_STATES.has(shown.task.state); round++) {
      if (!await condition(() => unread > 0 || canceled, PATIENCE)) {
        return await move(
          "failed",
          said(shown.task, "Nobody answered for a day, so this task is given up"),
        );
      }
      unread = 0;
      if (!canceled && shown.task.state !== "working") await move("working");
      const result = canceled ? undefined : await answered(round);
      if (canceled) await move("canceled", said(shown.task, "Canceled, as was asked for"));
      else if (unread === 0) await move(...outcome(result));
    }
  }

  async function answered(round: number): Promise<ReasoningResult | undefined> {
    running = new CancellationScope();
    try {
      return await running.run(() =>
        executeChild(reasoning, {
          workflowId: `reasoning-${shown.task.id}-${round}`,
          args: [{ prompt: promptOf(shown.task), requested_by: workflowInfo().workflowId }],
          parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        })
      );
    } catch (error) {
      if (isCancellation(error) && !canceled) throw error; // by an operator, of the whole workflow
      return undefined;
    }
  }

  function outcome(result: ReasoningResult | undefined): [TaskState, Partial<TaskRecord>] {
    if (!result) {
      return ["failed", said(shown.task, "The pipeline failed to answer; ask again later")];
    }
    const { outcome, answer, citations, steps, written_by, provider } = result;
    if (outcome === "input_required") return ["input-required", said(shown.task, answer)];
    if (outcome === "refused") return ["rejected", said(shown.task, answer)];
    const artifact: TaskArtifact = {
      artifact_id: uuid4(),
      name: "answer",
      parts: [{ text: answer }, { data: { citations, steps, written_by, provider } }],
    };
    return ["completed", { ...said(shown.task, answer), artifacts: [artifact] }];
  }
}

/** What the asker said in the task, the newest last. */
function promptOf({ history }: TaskRecord): string {
  return history.filter(({ role }) => role === "user")
    .flatMap(({ parts }) => parts.map(textOf)).join("\n").slice(-MOST_PROMPT).trim() || "-";
}

const textOf = (part: TaskPart) => "text" in part ? part.text : JSON.stringify(part.data);

/** @throws there is nothing to be done in it any more */
export function refuseEnded({ id, state }: TaskRecord): void {
  if (TERMINAL_STATES.has(state)) {
    throw ApplicationFailure.nonRetryable(`Task ${id} has ended: ${state}`, "Conflict");
  }
}

function refuseMore(task: TaskRecord, message: TaskMessage, held: boolean): void {
  refuseEnded(task);
  if (held) {
    throw ApplicationFailure.nonRetryable(
      `Task ${task.id} waits for people (${task.approval_id}), and takes no more before`,
      "Conflict",
    );
  }
  if (task.history.some(({ message_id }) => message_id === message.message_id)) {
    throw ApplicationFailure.nonRetryable(
      `Message ${message.message_id} is already in task ${task.id}`,
      "Conflict",
    );
  }
  const characters = JSON.stringify([task.history, message]).length;
  if (task.history.length >= MAX_MESSAGES || characters > MAX_CHARACTERS) {
    throw ApplicationFailure.nonRetryable(
      `Task ${task.id} takes no more: at most ${MAX_MESSAGES} messages and ${MAX_CHARACTERS} characters; start another`,
      "TooLarge",
    );
  }
}

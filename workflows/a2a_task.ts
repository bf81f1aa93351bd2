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
} from "../contract/domain/mod.ts";
import { describeFailedCall, failedTaskState, waitForHeldCall } from "./_held_call.ts";
import { inheritTenant } from "./_run.ts";
import { agentMessage, assertOpen, conflict, openTask, reply } from "./_task.ts";
import { reasoning } from "./reasoning.ts";

/** Longest wait for the client's answer to a question. */
const REPLY_TIMEOUT = "24h";
/** Most characters of a prompt; of a longer conversation, its end counts. */
const MAX_PROMPT = 8_000;

/**
 * A conversation with an agent: each message goes to the reasoning pipeline, until the pipeline can answer.
 *
 * @param first the task as submitted, version 0, with its first message in the history
 */
export async function a2aTask(first: TaskRecord): Promise<TaskRecord> {
  const open = openTask(first);
  const { move } = open;
  let unread = 1;
  let isCanceled = false;
  let isHeld = first.approval_id !== undefined;
  let pipeline: CancellationScope | undefined;

  setHandler(sayUpdate, async (message) => {
    unread++;
    await move("working", { history: [...open.task.history, message] });
    return open.task;
  }, { validator: (message) => assertTakesMessage(open.task, message, isHeld) });

  setHandler(cancelUpdate, async () => {
    isCanceled = true;
    pipeline?.cancel();
    return await open.ended();
  }, { validator: () => assertOpen(open.task) });

  try {
    if (first.approval_id !== undefined) await waitForApproval(first.approval_id);
    await converse();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() =>
      move("canceled", reply(open.task, "Canceled by an operator"))
    );
  }
  await condition(allHandlersFinished);
  return open.task;

  /** Waits until people let the conversation begin. */
  async function waitForApproval(approvalId: string): Promise<void> {
    const call = await waitForHeldCall({
      taskId: first.id,
      approvalId,
      isCanceled: () => isCanceled,
      onApproved: () => move("working", { said: agentMessage(`${approvalId} is approved`) }),
    });
    isHeld = false;
    if (!call) {
      await move("canceled", reply(open.task, "Canceled, as was asked for"));
    } else if (call.state !== "done") {
      await move(failedTaskState(call), reply(open.task, describeFailedCall(approvalId, call)));
    }
  }

  async function converse(): Promise<void> {
    for (let round = 1; !TERMINAL_STATES.has(open.task.state); round++) {
      if (!await condition(() => unread > 0 || isCanceled, REPLY_TIMEOUT)) {
        const text = "Nobody answered for a day, so this task is given up";
        return await move("failed", reply(open.task, text));
      }
      unread = 0;
      if (!isCanceled && open.task.state !== "working") await move("working");
      const result = isCanceled ? undefined : await runPipeline(round);
      if (isCanceled) await move("canceled", reply(open.task, "Canceled, as was asked for"));
      else if (unread === 0) await move(...outcomeOf(result));
    }
  }

  /** @returns undefined: it failed, or was cancelled */
  async function runPipeline(round: number): Promise<ReasoningResult | undefined> {
    pipeline = new CancellationScope();
    try {
      return await pipeline.run(() =>
        executeChild(reasoning, {
          workflowId: `reasoning-${open.task.id}-${round}`,
          args: [{ prompt: promptOf(open.task), requested_by: workflowInfo().workflowId }],
          parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
          typedSearchAttributes: [inheritTenant()],
        })
      );
    } catch (error) {
      if (isCancellation(error) && !isCanceled) throw error; // an operator cancels the whole workflow
      return undefined;
    }
  }

  function outcomeOf(result: ReasoningResult | undefined): [TaskState, Partial<TaskRecord>] {
    if (!result) {
      return ["failed", reply(open.task, "The pipeline failed to answer; ask again later")];
    }
    const { outcome, answer, citations, steps, written_by, provider } = result;
    if (outcome === "input_required") return ["input-required", reply(open.task, answer)];
    if (outcome === "refused") return ["rejected", reply(open.task, answer)];
    const artifact: TaskArtifact = {
      artifact_id: uuid4(),
      name: "answer",
      parts: [{ text: answer }, { data: { citations, steps, written_by, provider } }],
    };
    return ["completed", { ...reply(open.task, answer), artifacts: [artifact] }];
  }
}

/** Returns all messages of the client, newest last. */
function promptOf({ history }: TaskRecord): string {
  const texts = history.filter(({ role }) => role === "user")
    .flatMap(({ parts }) => parts.map(textOf));
  return texts.join("\n").slice(-MAX_PROMPT).trim() || "-";
}

function textOf(part: TaskPart): string {
  return "text" in part ? part.text : JSON.stringify(part.data);
}

function assertTakesMessage(task: TaskRecord, message: TaskMessage, isHeld: boolean): void {
  assertOpen(task);
  if (isHeld) {
    throw conflict(
      `Task ${task.id} waits for people (${task.approval_id}), and takes no more before`,
    );
  }
  if (task.history.some(({ message_id }) => message_id === message.message_id)) {
    throw conflict(`Message ${message.message_id} is already in task ${task.id}`);
  }
  const characters = JSON.stringify([task.history, message]).length;
  if (task.history.length >= MAX_MESSAGES || characters > MAX_CHARACTERS) {
    throw ApplicationFailure.nonRetryable(
      `Task ${task.id} takes no more: at most ${MAX_MESSAGES} messages and ${MAX_CHARACTERS} characters; start another`,
      "TooLarge",
    );
  }
}

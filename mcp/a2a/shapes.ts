/** Tasks in the protocol's own shapes. */
import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState as State,
  type TaskStatus,
} from "@a2a-js/sdk";
import type { TaskMessage, TaskPart, TaskRecord, TaskState } from "../../domain/mod.ts";

const STATES: Readonly<Record<TaskState, State>> = {
  "submitted": State.TASK_STATE_SUBMITTED,
  "working": State.TASK_STATE_WORKING,
  "input-required": State.TASK_STATE_INPUT_REQUIRED,
  "completed": State.TASK_STATE_COMPLETED,
  "canceled": State.TASK_STATE_CANCELED,
  "failed": State.TASK_STATE_FAILED,
  "rejected": State.TASK_STATE_REJECTED,
};

/** The state of that number, or undefined. */
export function stateOf(number: State): TaskState | undefined {
  return (Object.keys(STATES) as TaskState[]).find((name) => STATES[name] === number);
}

const partOf = (part: TaskPart): Part => ({
  content: "text" in part
    ? { $case: "text", value: part.text }
    : { $case: "data", value: part.data },
  metadata: undefined,
  filename: "",
  mediaType: "",
});

function messageOf({ id, context_id }: TaskRecord, message: TaskMessage): Message {
  return {
    messageId: message.message_id,
    contextId: context_id,
    taskId: id,
    role: message.role === "user" ? Role.ROLE_USER : Role.ROLE_AGENT,
    parts: message.parts.map(partOf),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function statusOf(task: TaskRecord): TaskStatus {
  const { state, since, said } = task;
  const speaks = state !== "submitted" && state !== "working";
  return {
    state: STATES[state],
    timestamp: since,
    message: said && (speaks || task.skill) ? messageOf(task, said) : undefined,
  };
}

const artifactsOf = ({ artifacts }: TaskRecord): Artifact[] =>
  artifacts.map(({ artifact_id, name, parts, metadata }) => ({
    artifactId: artifact_id,
    name,
    description: "",
    parts: parts.map(partOf),
    metadata: metadata && { ...metadata },
    extensions: [],
  }));

/** A task. @param history most messages of it, the newest; all where undefined */
export function taskOf(task: TaskRecord, history?: number): Task {
  const kept = history === undefined
    ? task.history
    : history === 0
    ? []
    : task.history.slice(-history);
  return {
    id: task.id,
    contextId: task.context_id,
    status: statusOf(task),
    artifacts: artifactsOf(task),
    history: kept.map((message) => messageOf(task, message)),
    metadata: task.metadata && { ...task.metadata },
  };
}

/** What is told of a task that has changed: what came out of it, then how it stands. */
export function changesOf(task: TaskRecord): StreamResponse[] {
  const about = { taskId: task.id, contextId: task.context_id, metadata: undefined };
  return [
    ...artifactsOf(task).map((artifact): StreamResponse => ({
      payload: {
        $case: "artifactUpdate",
        value: { ...about, artifact, append: false, lastChunk: true },
      },
    })),
    { payload: { $case: "statusUpdate", value: { ...about, status: statusOf(task) } } },
  ];
}

/** An answer that is no task. */
export function replyOf(
  parts: readonly TaskPart[],
  { messageId, contextId, taskId, metadata }: {
    messageId: string;
    contextId: string;
    taskId: string | undefined;
    metadata: Record<string, unknown> | undefined;
  },
): Message {
  return {
    messageId,
    contextId,
    taskId: taskId ?? "",
    role: Role.ROLE_AGENT,
    parts: parts.map(partOf),
    metadata,
    extensions: [],
    referenceTaskIds: [],
  };
}

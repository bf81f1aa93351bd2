/** Tasks in the shapes of the protocol's SDK. */
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
import type { TaskMessage, TaskPart, TaskRecord, TaskState } from "../../contract/domain/mod.ts";

const STATES: Readonly<Record<TaskState, State>> = {
  "submitted": State.TASK_STATE_SUBMITTED,
  "working": State.TASK_STATE_WORKING,
  "input-required": State.TASK_STATE_INPUT_REQUIRED,
  "completed": State.TASK_STATE_COMPLETED,
  "canceled": State.TASK_STATE_CANCELED,
  "failed": State.TASK_STATE_FAILED,
  "rejected": State.TASK_STATE_REJECTED,
};

/** Converts the SDK's number of a state. @returns undefined where it is none of ours */
export function parseState(number: State): TaskState | undefined {
  return (Object.keys(STATES) as TaskState[]).find((name) => STATES[name] === number);
}

const toPart = (part: TaskPart): Part => ({
  content: "text" in part
    ? { $case: "text", value: part.text }
    : { $case: "data", value: part.data },
  metadata: undefined,
  filename: "",
  mediaType: "",
});

function toMessage({ id, context_id }: TaskRecord, message: TaskMessage): Message {
  return {
    messageId: message.message_id,
    contextId: context_id,
    taskId: id,
    role: message.role === "user" ? Role.ROLE_USER : Role.ROLE_AGENT,
    parts: message.parts.map(toPart),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function toStatus(task: TaskRecord): TaskStatus {
  const { state, since, said } = task;
  const isForClient = state !== "submitted" && state !== "working";
  return {
    state: STATES[state],
    timestamp: since,
    message: said && (isForClient || task.skill) ? toMessage(task, said) : undefined,
  };
}

const toArtifacts = ({ artifacts }: TaskRecord): Artifact[] =>
  artifacts.map(({ artifact_id, name, parts, metadata }) => ({
    artifactId: artifact_id,
    name,
    description: "",
    parts: parts.map(toPart),
    metadata: metadata && { ...metadata },
    extensions: [],
  }));

/** Converts a task. @param historyLength maximum of messages, the newest; default: all */
export function toTask(task: TaskRecord, historyLength?: number): Task {
  const history = historyLength === undefined
    ? task.history
    : historyLength === 0
    ? []
    : task.history.slice(-historyLength);
  return {
    id: task.id,
    contextId: task.context_id,
    status: toStatus(task),
    artifacts: toArtifacts(task),
    history: history.map((message) => toMessage(task, message)),
    metadata: task.metadata && { ...task.metadata },
  };
}

/** Returns the events of a changed task: its artifacts, then its status. */
export function toEvents(task: TaskRecord): StreamResponse[] {
  const fields = { taskId: task.id, contextId: task.context_id, metadata: undefined };
  return [
    ...toArtifacts(task).map((artifact): StreamResponse => ({
      payload: {
        $case: "artifactUpdate",
        value: { ...fields, artifact, append: false, lastChunk: true },
      },
    })),
    { payload: { $case: "statusUpdate", value: { ...fields, status: toStatus(task) } } },
  ];
}

/** Creates a message of the agent that belongs to no task or to an open one. */
export function createAgentMessage(
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
    parts: parts.map(toPart),
    metadata,
    extensions: [],
    referenceTaskIds: [],
  };
}

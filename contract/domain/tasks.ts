/** States of an A2A task. The last four are terminal. */
const TASK_STATES = [
  "submitted",
  "working",
  "input-required",
  "completed",
  "canceled",
  "failed",
  "rejected",
] as const;

/** One of {@linkcode TASK_STATES}. */
export type TaskState = typeof TASK_STATES[number];

/** The terminal states. */
export const TERMINAL_STATES: ReadonlySet<string> = new Set([
  "completed",
  "canceled",
  "failed",
  "rejected",
]);

/** A part of a message. */
export type TaskPart = { readonly text: string } | {
  readonly data: Readonly<Record<string, unknown>>;
};

/** A message of one side. */
export interface TaskMessage {
  readonly message_id: string;
  readonly role: "user" | "agent";
  readonly parts: readonly TaskPart[];
}

/** An output of a task. */
export interface TaskArtifact {
  readonly artifact_id: string;
  readonly name: string;
  readonly parts: readonly TaskPart[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** An A2A task, as its client sees it. */
export interface TaskRecord {
  readonly id: string;
  readonly context_id: string;
  /** Public id of the client's key. */
  readonly key_id: string;
  readonly state: TaskState;
  /** Grows with each change, from 0. */
  readonly version: number;
  /** Time of the last change of state, ISO 8601. */
  readonly since: string;
  /** Last message of the agent; null: none yet. */
  readonly said: TaskMessage | null;
  /** Oldest first. */
  readonly history: readonly TaskMessage[];
  readonly artifacts: readonly TaskArtifact[];
  /** Tool that the task calls; absent: it is a conversation. */
  readonly skill?: string;
  /** Approval that the task waits for; absent: none. */
  readonly approval_id?: string;
  /** Receipt of the call, and other metadata of the answer. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A task that calls a tool. */
export interface SkillTask extends TaskRecord {
  readonly skill: string;
}

/** Output of a call that has started a run of a workflow. */
export interface StartedRun extends Readonly<Record<string, unknown>> {
  readonly workflow_id: string;
  readonly run_id: string;
}

/** Progress of a run. */
export interface RunState {
  readonly state: "running" | "completed" | "failed" | "canceled";
  /** Current step, for a person; null: unknown. */
  readonly step: string | null;
  /** Reason of a failure. */
  readonly failure?: string;
}

/** State of a held call. */
export interface HeldCallStatus {
  /** `pending`, `denied`, `expired`: of the approval; `approved`: it runs now; else how it ended. */
  readonly state:
    | "pending"
    | "approved"
    | "denied"
    | "expired"
    | "done"
    | "failed"
    | "refused"
    | "unknown";
  /** Message of the error. */
  readonly error?: string;
  /** Run that it has started and that is still open; absent: it is done. */
  readonly run?: StartedRun;
}

/** Most messages of one task. */
export const MAX_MESSAGES = 50;

/** Most characters of one task's messages together. */
export const MAX_CHARACTERS = 200_000;

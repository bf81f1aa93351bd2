/** How a task can stand. The last four are ends. */
export const TASK_STATES = [
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

/** States that a task does not leave. */
export const ENDS: ReadonlySet<string> = new Set(["completed", "canceled", "failed", "rejected"]);

/** A piece of what is said. */
export type TaskPart = { readonly text: string } | {
  readonly data: Readonly<Record<string, unknown>>;
};

/** What one side said. */
export interface TaskMessage {
  readonly message_id: string;
  readonly role: "user" | "agent";
  readonly parts: readonly TaskPart[];
}

/** What came out of a task. */
export interface TaskArtifact {
  readonly artifact_id: string;
  readonly name: string;
  readonly parts: readonly TaskPart[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A task, as its asker sees it. */
export interface TaskRecord {
  readonly id: string;
  readonly context_id: string;
  /** Public id of the key that asked for it. */
  readonly key_id: string;
  readonly state: TaskState;
  /** Grows with each change, from 0. */
  readonly version: number;
  /** ISO 8601: since when it stands so. */
  readonly since: string;
  /** What was said last by the agent; null: nothing yet. */
  readonly said: TaskMessage | null;
  /** Oldest first. */
  readonly history: readonly TaskMessage[];
  readonly artifacts: readonly TaskArtifact[];
  /** The call of a tool that it stands for; absent: it is a conversation. */
  readonly skill?: string;
  /** What people are asked before anything is done; absent: nobody is. */
  readonly approval_id?: string;
  /** The receipt of the call and what else is told beside it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A task that stands for the call of a tool. */
export interface SkillTask extends TaskRecord {
  readonly skill: string;
}

/** What a call gave that has started a run of a workflow. */
export interface StartedRun extends Readonly<Record<string, unknown>> {
  readonly workflow_id: string;
  readonly run_id: string;
}

/** How far a run is. */
export interface SeenRun {
  readonly state: "running" | "completed" | "failed" | "canceled";
  /** What it does, for a person; null: it doesn't say. */
  readonly step: string | null;
  /** Why it has failed. */
  readonly failure?: string;
}

/** How a call stands that people are asked about. */
export interface RuledCall {
  /** `pending`, `denied` and `expired` by the people; `approved`: it is being run; then how it ended. */
  readonly state:
    | "pending"
    | "approved"
    | "denied"
    | "expired"
    | "done"
    | "failed"
    | "refused"
    | "unknown";
  /** What went wrong. */
  readonly error?: string;
  /** Run that it has started, which is to be waited for; absent: it is done. */
  readonly given?: StartedRun;
}

/** Most messages of one task, and most characters of them together. */
export const MOST_MESSAGES = 50;

export const MOST_CHARACTERS = 200_000;

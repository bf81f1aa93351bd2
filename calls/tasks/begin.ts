import { randomUUID } from "node:crypto";
import {
  type StartedRun,
  TASK_QUEUE,
  type TaskMessage,
  type TaskRecord,
  WORKFLOW,
} from "../../domain/mod.ts";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { redactSecrets } from "../../contract/mod.ts";
import { dropTask, getTask, putTask } from "../../store/mod.ts";
import { STARTED_BY } from "../recover/marks.ts";
import { told } from "../temporal_errors.ts";
import type { Platform } from "../platform.ts";

/** The workflow that drives a task. */
export const taskWorkflowOf = (taskId: string): string => `a2a-${taskId}`;

/** A task with its first message, as submitted. */
export function newTask(
  fields: Pick<TaskRecord, "id" | "key_id"> & Partial<TaskRecord>,
): TaskRecord {
  return {
    ...{ context_id: randomUUID(), state: "submitted", version: 0, said: null },
    ...{ since: new Date().toISOString(), history: [], artifacts: [] },
    ...fields,
  };
}

/**
 * Shows a task, and starts what drives it; where another was faster, gives it as that has left it.
 *
 * @param given by its call, where that has started a run
 * @param decisionId of the message that begins it
 * @throws {Problem} `Unavailable`: then there is no such task
 */
export async function beginTask(
  { store, temporal }: Pick<Platform, "store" | "temporal">,
  task: TaskRecord,
  given?: StartedRun,
  decisionId?: string,
): Promise<TaskRecord> {
  const client = await temporal();
  await putTask(store.asPlatform(), task);
  try {
    await told(
      client.workflow.start(task.skill === undefined ? WORKFLOW.a2aTask : WORKFLOW.a2aSkill, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: taskWorkflowOf(task.id),
        args: given ? [task, given] : [task],
        ...(decisionId ? { memo: { [STARTED_BY]: decisionId } } : {}),
        staticSummary: task.skill === undefined
          ? "Conversation with an agent"
          : `Call of ${task.skill} by an agent`,
      }),
    );
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) {
      return await getTask<TaskRecord>(store.asPlatform(), task.id, task.key_id) ?? task;
    }
    await dropTask(store.asPlatform(), task.id).catch(() => {});
    throw error;
  }
  return task;
}

/** What a call of a tool comes to, where it is not done at once. */
export interface OpenCall {
  /** Of the task. */
  readonly id: string;
  readonly skill: string;
  readonly keyId: string;
  readonly messageId: string;
  readonly contextId: string | undefined;
  readonly input: unknown;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** Run that it has started; absent: people are asked first. */
  readonly given?: StartedRun;
  /** What people are asked, and what the asker is told of it. */
  readonly held?: Held;
}

/** A call that people are asked about. */
export interface Held {
  readonly approvalId: string;
  /** What governance says of it. */
  readonly governance: Readonly<Record<string, unknown>>;
}

/** Opens the task of such a call. */
export async function beginCall(
  platform: Pick<Platform, "store" | "temporal">,
  { id, skill, keyId, messageId, contextId, input, metadata, given, held }: OpenCall,
): Promise<TaskRecord> {
  const data = redactSecrets({ skill, arguments: input }) as Record<string, unknown>;
  const message: TaskMessage = { message_id: messageId, role: "user", parts: [{ data }] };
  const task = newTask({
    ...{ id, key_id: keyId, skill, history: [message] },
    ...(contextId ? { context_id: contextId } : {}),
    metadata: { ...metadata, ...(given ? { "sealoop/workflow_id": given.workflow_id } : {}) },
  });
  return await beginTask(platform, held ? heldTask(task, held) : task, given);
}

/** A task that waits for people. */
export function heldTask(task: TaskRecord, { approvalId, governance }: Held): TaskRecord {
  const text = `Nothing was done yet: a person decides about ${approvalId}. Then exactly this is ` +
    "done, once; follow this task to see what comes of it.";
  const said: TaskMessage = {
    ...{ message_id: randomUUID(), role: "agent" },
    parts: [{ text }, { data: { governance } }],
  };
  return {
    ...{ ...task, state: "input-required", approval_id: approvalId, said },
    history: [...task.history, said],
  };
}

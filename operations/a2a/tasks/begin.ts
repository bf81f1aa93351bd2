import { randomUUID } from "node:crypto";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { redactSecrets } from "../../../contract/mod.ts";
import {
  type StartedRun,
  TASK_QUEUE,
  type TaskMessage,
  type TaskRecord,
  WORKFLOW,
} from "../../../contract/domain/mod.ts";
import { startNotedRun } from "../../../calls/recover/mod.ts";
import { dropTask, getTask, putTask } from "../../../store/a2a/mod.ts";
import type { Platform } from "../../../calls/mod.ts";

/** Returns the id of the workflow that drives a task. */
export const taskWorkflowId = (taskId: string): string => `a2a-${taskId}`;

/** Returns a task as submitted, with its first message. */
export function newTask(
  fields: Pick<TaskRecord, "id" | "key_id"> & Partial<TaskRecord>,
): TaskRecord {
  return {
    context_id: randomUUID(),
    state: "submitted",
    version: 0,
    said: null,
    since: new Date().toISOString(),
    history: [],
    artifacts: [],
    ...fields,
  };
}

/**
 * Stores a task, and starts the workflow that drives it. Where another attempt was faster, returns the task as that has
 * left it.
 *
 * @param run started by the task's call
 * @param decisionId of the message that begins the task
 * @throws {Problem} `Unavailable`: then there is no such task
 */
export async function beginTask(
  { store, temporal }: Pick<Platform, "store" | "temporal">,
  task: TaskRecord,
  run?: StartedRun,
  decisionId?: string,
): Promise<TaskRecord> {
  await temporal(); // while it is away nothing is stored
  const db = store.db;
  await putTask(db, task);
  const isConversation = task.skill === undefined;
  try {
    const type = isConversation ? WORKFLOW.a2aTask : WORKFLOW.a2aSkill;
    await startNotedRun({ store, temporal, decisionId }, type, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: taskWorkflowId(task.id),
      workflowIdConflictPolicy: "FAIL",
      args: run ? [task, run] : [task],
      staticSummary: isConversation
        ? "Conversation with an agent"
        : `Call of ${task.skill} by an agent`,
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) {
      return await getTask<TaskRecord>(db, task.id, task.key_id) ?? task;
    }
    await dropTask(db, task.id).catch(() => {});
    throw error;
  }
  return task;
}

/** A call of a tool that does not end at once, and so becomes a task. */
export interface OpenCall {
  /** Id of the task. */
  readonly id: string;
  readonly skill: string;
  readonly keyId: string;
  readonly messageId: string;
  readonly contextId: string | undefined;
  readonly input: unknown;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** Run that the call has started; absent: people are asked first. */
  readonly run?: StartedRun;
  readonly waitsFor?: PendingApproval;
}

/** An approval that a task waits for. */
export interface PendingApproval {
  readonly approvalId: string;
  /** Governance's answer to the call. */
  readonly governance: Readonly<Record<string, unknown>>;
}

/** Opens the task of such a call. */
export async function beginCall(
  platform: Pick<Platform, "store" | "temporal">,
  { id, skill, keyId, messageId, contextId, input, metadata, run, waitsFor }: OpenCall,
): Promise<TaskRecord> {
  const data = redactSecrets({ skill, arguments: input }) as Record<string, unknown>;
  const message: TaskMessage = { message_id: messageId, role: "user", parts: [{ data }] };
  const task = newTask({
    id,
    key_id: keyId,
    skill,
    history: [message],
    ...(contextId ? { context_id: contextId } : {}),
    metadata: { ...metadata, ...(run ? { "sealoop/workflow_id": run.workflow_id } : {}) },
  });
  return await beginTask(platform, waitsFor ? waitingTask(task, waitsFor) : task, run);
}

/** Returns a task that waits for people. */
export function waitingTask(
  task: TaskRecord,
  { approvalId, governance }: PendingApproval,
): TaskRecord {
  const text = `Nothing was done yet: a person decides about ${approvalId}. Then exactly this is ` +
    "done, once; follow this task to see what comes of it.";
  const said: TaskMessage = {
    message_id: randomUUID(),
    role: "agent",
    parts: [{ text }, { data: { governance } }],
  };
  return {
    ...task,
    state: "input-required",
    approval_id: approvalId,
    said,
    history: [...task.history, said],
  };
}

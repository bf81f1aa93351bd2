import { WorkflowNotFoundError } from "@temporalio/client";
import {
  type ApprovalOpening,
  deliverVotes,
  moveApproval,
  type MoveOrder,
  type MoveResult,
  type OpenedApproval,
  recordOpening,
} from "../calls/approvals/mod.ts";
import { type RequestingRun, type RunId, TASK_QUEUE, WORKFLOW } from "../domain/mod.ts";
import { getApproval, getTicket, setResumedRun } from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** An approved action whose loop may have ended meanwhile. */
export interface Resumption {
  readonly approval_id: string;
  readonly action_sha256: string;
  readonly asking_run: RequestingRun;
  /** Of the approval. */
  readonly receipt_id: string;
}

/** Activities of approvals. */
export function approvals(parts: ActivityParts) {
  const db = parts.store.asPlatform();

  /** Stores and seals what is asked for, and tells the ticket. Safe to repeat: the approval's id names all of it. */
  async function openApproval(opening: ApprovalOpening): Promise<OpenedApproval> {
    return await recordOpening(parts, opening);
  }

  /** Makes a move, if the database allows it, and seals it. Safe to repeat: a vote counts once. */
  async function move(order: MoveOrder): Promise<MoveResult> {
    return await moveApproval(parts, order);
  }

  /** Delivers votes whose gateway died before it could. Safe to repeat: a vote counts once. @returns how many */
  async function deliverWaitingVotes(): Promise<number> {
    return await deliverVotes(parts);
  }

  /**
   * Starts the loop anew where the run that asked has ended meanwhile; the new run takes over the ticket and cites the
   * sealed receipt. A run that still waits goes on by itself. Safe to repeat: a loop has one run at a time.
   */
  async function resumeAfterApproval(
    { approval_id, action_sha256, asking_run: { workflow_id, run_id, finding } }: Resumption,
  ): Promise<RunId | null> {
    const approval = await getApproval(db, approval_id);
    if (approval?.resumedRun) return approval.resumedRun;
    if (await isRunning(workflow_id, run_id)) return null;
    const ticket = approval?.ticketId ? await getTicket(db, approval.ticketId) : undefined;
    if (ticket?.status === "resolved") return null; // somebody has repaired it by hand
    const resumes = { approval_id, action_sha256, receipt_id: ticket?.receipt_id ?? null };
    const { workflow } = await parts.temporal();
    const handle = await workflow.start(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: workflow_id,
      workflowIdConflictPolicy: "USE_EXISTING",
      args: [{ ...finding, resumes }],
      staticSummary: `Goes on after ${approval_id}`,
    });
    const run = { workflow_id, run_id: handle.firstExecutionRunId };
    await setResumedRun(db, approval_id, run);
    return run;
  }

  async function isRunning(workflowId: string, runId: string): Promise<boolean> {
    const { workflow } = await parts.temporal();
    try {
      return (await workflow.getHandle(workflowId, runId).describe()).status.name === "RUNNING";
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  return { openApproval, moveApproval: move, deliverWaitingVotes, resumeAfterApproval };
}

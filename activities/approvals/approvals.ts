import {
  type ApprovalOpening,
  deliverVotes,
  moveApproval as makeMove,
  type MoveOrder,
  type MoveResult,
  type OpenedApproval,
  recordOpening,
  subjectOf,
} from "../../calls/approvals/mod.ts";
import { getRunStatus } from "../../calls/mod.ts";
import {
  type RequestingRun,
  type RunId,
  TASK_QUEUE,
  tenantAttribute,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { getApproval, setResumedRun } from "../../store/approvals/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { notifyTasks } from "../../operations/a2a/tasks/mod.ts";

/** An approved action. Its loop may have ended meanwhile. */
export interface ResumeOrder {
  readonly approval_id: string;
  readonly action_sha256: string;
  readonly asking_run: RequestingRun;
  /** Receipt of the approval. */
  readonly receipt_id: string;
}

/** Creates the activities of approvals. */
export function approvalActivities(parts: ActivityParts) {
  const db = parts.store.db;

  /** Stores and seals an approval, and tells its ticket. Safe to repeat: the approval's id identifies all of it. */
  async function openApproval(opening: ApprovalOpening): Promise<OpenedApproval> {
    return await recordOpening(parts, opening);
  }

  /**
   * Makes a move, if the database allows it, and seals it. Safe to repeat: a vote counts once.
   *
   * @param order `change`: what has changed of a repair since people were asked about it; it does not count then
   */
  async function moveApproval(
    order: MoveOrder & { readonly change?: string },
  ): Promise<MoveResult> {
    const { change, ...rest } = order;
    const moved = await makeMove(parts, rest, change);
    if (moved.status !== "pending") await notifyTasks(parts, order.approval_id);
    return moved;
  }

  /** Delivers votes whose gateway died before it could. Safe to repeat: a vote counts once. @returns how many */
  async function deliverWaitingVotes(): Promise<number> {
    return await deliverVotes(parts);
  }

  /**
   * Starts the loop again if the run that requested the approval has ended, after it was approved or is outdated: the new run
   * takes over the ticket and cites the sealed receipt. A run that still waits continues by itself. Safe to repeat: a loop has one run at a time.
   *
   * @returns the new run; null: none is needed
   */
  async function resumeAfterApproval(
    { approval_id, action_sha256, asking_run: { workflow_id, run_id, finding } }: ResumeOrder,
  ): Promise<RunId | null> {
    const approval = await getApproval(db, approval_id);
    if (approval?.resumedRun) return approval.resumedRun;
    const { status } = await getRunStatus(parts.temporal, workflow_id, run_id);
    if (status === "RUNNING") return null;
    const ticket = approval?.ticketId ? await getTicket(db, approval.ticketId) : undefined;
    if (ticket?.status === "resolved") return null; // somebody has repaired it by hand
    const resumes = { approval_id, action_sha256, receipt_id: ticket?.receipt_id ?? null };
    const { workflow } = await parts.temporal();
    const handle = await workflow.start(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: workflow_id,
      workflowIdConflictPolicy: "USE_EXISTING",
      args: [{ ...finding, resumes }],
      typedSearchAttributes: [tenantAttribute(parts.store.tenant)],
      staticSummary: `Continues after ${approval_id}`,
    });
    const run = { workflow_id, run_id: handle.firstExecutionRunId };
    await setResumedRun(db, approval_id, run);
    return run;
  }

  /** Goes on with what was approved, where nothing waits for that. The database says what it is. Safe to repeat. */
  async function resumeSubject(
    { approval_id }: { readonly approval_id: string },
  ): Promise<void> {
    const approval = await getApproval(db, approval_id);
    if (approval) await subjectOf(parts, approval.subject)?.resume?.(parts, approval);
  }

  return { openApproval, moveApproval, deliverWaitingVotes, resumeAfterApproval, resumeSubject };
}

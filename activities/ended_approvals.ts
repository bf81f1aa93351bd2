import { WorkflowNotFoundError } from "@temporalio/client";
import { approvalWorkflowId, moveApproval } from "../calls/approvals/mod.ts";
import type { RunId } from "../domain/mod.ts";
import {
  type ApprovalRecord,
  dropApproval,
  getApproval,
  listPendingApprovals,
} from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** A pending approval whose workflow has ended. */
export interface EndedApproval {
  readonly approval_id: string;
  /** Its last run. */
  readonly run: RunId;
  /** Temporal's status: TERMINATED, TIMED_OUT, FAILED; NOT_FOUND: it ended long ago, or never began. */
  readonly status: string;
}

/** An approval that has no workflow after this time never gets one; its caller was told so. */
const MAX_START_DELAY_MS = 300_000;

/** Activities about approvals whose workflow was ended from outside. */
export function endedApprovals(parts: ActivityParts) {
  const db = parts.store.asPlatform();

  /** Finds pending approvals whose workflow has ended without a decision. Safe to repeat: it only reads. */
  async function findEndedApprovals(): Promise<EndedApproval[]> {
    const ended: EndedApproval[] = [];
    for (const id of await listPendingApprovals(db)) {
      const end = await endOf(id);
      if (!end) continue;
      // A workflow stores its last move before it ends, so an approval that is still pending was not decided.
      const approval = await getApproval(db, id);
      if (approval?.status === "pending" && hasHadTime(approval)) ended.push(end);
    }
    return ended;
  }

  async function endOf(approval_id: string): Promise<EndedApproval | undefined> {
    const workflow_id = approvalWorkflowId(approval_id);
    const { workflow } = await parts.temporal();
    try {
      const { status, runId: run_id } = await workflow.getHandle(workflow_id).describe();
      if (status.name === "RUNNING") return undefined;
      return { approval_id, run: { workflow_id, run_id }, status: status.name };
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      return { approval_id, run: { workflow_id, run_id: "gone" }, status: "NOT_FOUND" };
    }
  }

  /**
   * Lets an approval expire whose workflow was ended from outside, and seals that: it can be reopened, or asked for anew.
   * One that never began is forgotten. Safe to repeat: it expires once.
   */
  async function expireEndedApproval({ approval_id, run, status }: EndedApproval): Promise<void> {
    const approval = await getApproval(db, approval_id);
    if (approval?.status !== "pending") return;
    if (approval.moves === 0) return await dropApproval(db, approval_id);
    const { moves: cycle } = approval;
    await moveApproval(parts, { approval_id, run, move: "expired", cycle, ended: status });
  }

  return { findEndedApprovals, expireEndedApproval };
}

const hasHadTime = ({ moves, askedAt }: ApprovalRecord) =>
  moves > 0 || Date.now() - Date.parse(askedAt) > MAX_START_DELAY_MS;

import { approvalWorkflowId, moveApproval } from "../../calls/approvals/mod.ts";
import { type ApprovalRecord, dropApproval, getApproval } from "../../store/approvals/mod.ts";
import type { ActKind } from "../acts/mod.ts";

/** An approval without a workflow after this time never gets one; its caller was told so. */
const MAX_START_DELAY_MS = 300_000;

/**
 * Approvals that people have not decided. They expire, and can be reopened or requested again; one that was never opened is
 * dropped.
 */
export const approvalKind: ActKind = {
  workflowId: approvalWorkflowId,
  async end(owner, { id: approval_id }, run, status) {
    const { db } = owner.store;
    // A workflow stores its last move before it ends, so an approval that is still pending was not decided.
    const approval = await getApproval(db, approval_id);
    if (approval?.status !== "pending" || mayStillStart(approval)) return false;
    const { moves: cycle } = approval;
    if (cycle === 0) await dropApproval(db, approval_id);
    else await moveApproval(owner, { approval_id, run, move: "expired", cycle, ended: status });
    return true;
  },
};

function mayStillStart({ moves, askedAt }: ApprovalRecord): boolean {
  return moves === 0 && Date.now() - Date.parse(askedAt) <= MAX_START_DELAY_MS;
}

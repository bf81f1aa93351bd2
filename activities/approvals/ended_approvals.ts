import { approvalWorkflowId, moveApproval } from "../../calls/approvals/mod.ts";
import { forTenant, getRunStatus } from "../../calls/mod.ts";
import type { RunId } from "../../contract/domain/mod.ts";
import {
  type ApprovalRecord,
  dropApproval,
  getApproval,
  listPendingApprovals,
} from "../../store/approvals/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** A pending approval whose workflow has ended. */
export interface EndedApproval {
  readonly tenant_id: string;
  readonly approval_id: string;
  /** Its last run. */
  readonly run: RunId;
  /** Temporal's status: TERMINATED, TIMED_OUT, FAILED; NOT_FOUND: it ended long ago, or never began. */
  readonly status: string;
}

/** An approval without a workflow after this time never gets one; its caller was told so. */
const MAX_START_DELAY_MS = 300_000;

/** Creates the activities about approvals whose workflow was ended from outside. */
export function endedApprovalActivities(parts: ActivityParts) {
  /** Finds pending approvals of all tenants whose workflow has ended without a decision. Safe to repeat: it only reads. */
  async function findEndedApprovals(): Promise<EndedApproval[]> {
    const ended: EndedApproval[] = [];
    for (const tenant of await listTenants(parts.store.db)) {
      ended.push(...await findEndedOfTenant(tenant));
    }
    return ended;
  }

  async function findEndedOfTenant(tenant_id: string): Promise<EndedApproval[]> {
    const db = parts.store.asTenant(tenant_id);
    const ended: EndedApproval[] = [];
    for (const id of await listPendingApprovals(db)) {
      const workflow_id = approvalWorkflowId(id);
      const { status, runId = "gone" } = await getRunStatus(parts.temporal, workflow_id);
      if (status === "RUNNING") continue;
      // A workflow stores its last move before it ends, so an approval that is still pending was not decided.
      const approval = await getApproval(db, id);
      if (approval?.status !== "pending" || mayStillStart(approval)) continue;
      ended.push({ tenant_id, approval_id: id, run: { workflow_id, run_id: runId }, status });
    }
    return ended;
  }

  /**
   * Lets an approval expire whose workflow was ended from outside, and seals that; it can be reopened or requested again.
   * An approval that was never opened is dropped. Safe to repeat: it expires once.
   */
  async function expireEndedApproval(
    { tenant_id, approval_id, run, status }: EndedApproval,
  ): Promise<void> {
    const owner = forTenant(parts, tenant_id);
    const { db } = owner.store;
    const approval = await getApproval(db, approval_id);
    if (approval?.status !== "pending") return;
    if (approval.moves === 0) return await dropApproval(db, approval_id);
    const { moves: cycle } = approval;
    await moveApproval(owner, { approval_id, run, move: "expired", cycle, ended: status });
  }

  return { findEndedApprovals, expireEndedApproval };
}

function mayStillStart({ moves, askedAt }: ApprovalRecord): boolean {
  return moves === 0 && Date.now() - Date.parse(askedAt) <= MAX_START_DELAY_MS;
}

import { WorkflowNotFoundError } from "@temporalio/client";
import type { RunId } from "../domain/mod.ts";
import { type ApprovalRecord, dropApproval, getApproval, listPendingApprovals } from "../store/mod.ts";
import type { ApprovalMoveOrder } from "./approval_moves.ts";
import type { ActivityParts } from "./_parts.ts";

/** An approval that nobody waits for any more, though it is pending. */
export interface EndedApproval {
  readonly approval_id: string;
  /** Its last run. */
  readonly run: RunId;
  /** How Temporal says it ended: TERMINATED, TIMED_OUT, FAILED; NOT_FOUND: too long ago, or it never began. */
  readonly status: string;
}

/** What was asked for and has no workflow after so long never gets one, as its caller was told. */
const BEGINS_WITHIN_MS = 300_000;

/** What is done about approvals whose workflow was ended from outside. */
export function endedApprovals(
  { store, temporal }: ActivityParts,
  moveApproval: (order: ApprovalMoveOrder) => Promise<unknown>,
) {
  /** Looks for pending approvals whose workflow has ended without a decision. Safe to repeat: it only looks. */
  async function findEndedApprovals(): Promise<EndedApproval[]> {
    const found: EndedApproval[] = [];
    for (const { id } of await listPendingApprovals(store.asPlatform())) {
      const ended = await endOf(id);
      // Its last move is written down before it ends, so what is pending now was not decided.
      const known = ended && await getApproval(store.asPlatform(), id);
      if (known?.status === "pending" && hasHadItsTime(known)) found.push(ended!);
    }
    return found;
  }

  async function endOf(approval_id: string): Promise<EndedApproval | undefined> {
    const workflow_id = `approval-${approval_id}`;
    try {
      const { status, runId: run_id } = await temporal.workflow.getHandle(workflow_id).describe();
      if (status.name === "RUNNING") return undefined;
      return { approval_id, run: { workflow_id, run_id }, status: status.name };
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      return { approval_id, run: { workflow_id, run_id: "gone" }, status: "NOT_FOUND" };
    }
  }

  /**
   * Lets an approval expire that was ended from outside, and seals that it was: it can be reopened, or asked for anew.
   * One that never began is forgotten. Safe to repeat: it expires once.
   */
  async function expireEndedApproval({ approval_id, run, status }: EndedApproval): Promise<void> {
    const known = await getApproval(store.asPlatform(), approval_id);
    if (known?.status !== "pending") return;
    if (known.moves === 0) return await dropApproval(store.asPlatform(), approval_id);
    await moveApproval({ approval_id, run, move: "expired", cycle: known.moves, ended: status });
  }

  return { findEndedApprovals, expireEndedApproval };
}

const hasHadItsTime = ({ moves, askedAt }: ApprovalRecord) =>
  moves > 0 || Date.now() - Date.parse(askedAt) > BEGINS_WITHIN_MS;

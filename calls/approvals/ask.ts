import { unknownRecord } from "../unknown_record.ts";
import { type ApprovalRequest, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type ApprovalRecord,
  dropApproval,
  dropHeldCall,
  getApproval,
  type NewApproval,
  putApproval,
} from "../../store/approvals/mod.ts";
import type { Platform } from "../platform.ts";
import { startNotedRun } from "../recover/mod.ts";

type Parts = Pick<Platform, "store" | "temporal"> & {
  /** Decision of the call that asks. */
  readonly decisionId?: string | undefined;
};

/** Returns the id of an approval's workflow. */
export const approvalWorkflowId = (approvalId: string): string => `approval-${approvalId}`;

/** Returns an approval. @throws {Problem} `NotFound` */
export async function existingApproval({ store }: Pick<Platform, "store">, id: string) {
  const record = await getApproval(store.db, id);
  if (record) return record;
  throw await unknownRecord(store.db, "approval", id);
}

/**
 * Stores a request to people, and starts the workflow that waits for them.
 *
 * @param within runs in the same transaction: stores the call that is run once they have approved, or notes the call that asks
 * @param acts whether a call is run once it is approved
 * @returns run id of the approval's workflow
 * @throws {Problem} `Unavailable`: nobody can be asked now; then nothing is kept
 */
export async function openApproval(
  { store, temporal, decisionId }: Parts,
  approval: NewApproval,
  within?: (trx: Db) => Promise<void>,
  acts = within !== undefined,
): Promise<string> {
  await temporal(); // while it is away nothing is stored
  const db = store.db;
  await db.transaction(async (trx) => {
    await putApproval(trx, approval);
    await within?.(trx);
  });
  try {
    const run = await startNotedRun({ store, temporal, decisionId }, WORKFLOW.approval, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: approvalWorkflowId(approval.id),
      workflowIdConflictPolicy: "FAIL",
      args: [requestOf(approval, acts)],
      staticSummary: `Asks people about ${approval.subject}`,
    });
    return run.firstExecutionRunId;
  } catch (error) {
    await dropHeldCall(db, approval.id);
    await dropApproval(db, approval.id);
    throw error;
  }
}

/** Returns the argument of an approval's workflow. @param acts whether a call is run once it is approved */
export function requestOf(approval: NewApproval | ApprovalRecord, acts: boolean): ApprovalRequest {
  return {
    approval_id: approval.id,
    subject: approval.subject,
    action_sha256: approval.actionSha256,
    requested_by: approval.requestedBy,
    needed: approval.needed,
    expires_in_seconds: approval.expiresInSeconds,
    escalate_after_seconds: approval.escalateAfterSeconds,
    ...(approval.ticketId ? { ticket_id: approval.ticketId } : {}),
    ...(acts ? { acts } : {}),
  };
}

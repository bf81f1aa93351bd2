import { Problem } from "../../contract/mod.ts";
import {
  type ApprovalRequest,
  TASK_QUEUE,
  tenantAttribute,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
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
import { mapTemporalErrors } from "../temporal_errors.ts";

type Parts = Pick<Platform, "store" | "temporal">;

/** Returns the id of an approval's workflow. */
export const approvalWorkflowId = (approvalId: string): string => `approval-${approvalId}`;

/** Returns an approval. @throws {Problem} `NotFound` */
export async function existingApproval({ store }: Pick<Platform, "store">, id: string) {
  const record = await getApproval(store.db, id);
  if (record) return record;
  throw new Problem("NotFound", `There is no approval ${id}`);
}

/**
 * Stores a request to people, and starts the workflow that waits for them.
 *
 * @param within runs in the same transaction: stores the call that is run once they have approved
 * @returns run id of the approval's workflow
 * @throws {Problem} `Unavailable`: nobody can be asked now; then nothing is kept
 */
export async function openApproval(
  { store, temporal }: Parts,
  approval: NewApproval,
  within?: (trx: Db) => Promise<void>,
): Promise<string> {
  const client = await temporal();
  const db = store.db;
  await db.transaction(async (trx) => {
    await putApproval(trx, approval);
    await within?.(trx);
  });
  const start = client.workflow.start(WORKFLOW.approval, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: approvalWorkflowId(approval.id),
    args: [requestOf(approval, within !== undefined)],
    typedSearchAttributes: [tenantAttribute(store.tenant)],
    staticSummary: `Asks people about ${approval.subject}`,
  });
  try {
    return (await mapTemporalErrors(start)).firstExecutionRunId;
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

import { type ApprovalRequest, TASK_QUEUE, WORKFLOW } from "../../domain/mod.ts";
import {
  dropAct,
  dropApproval,
  type NewApproval,
  putApproval,
  type Db,
  } from "../../store/mod.ts";
import { workflowIdOf } from "../../operations/_approval_shapes.ts";
import type { Platform } from "../platform.ts";
import { told } from "../temporal_errors.ts";

/**
 * Keeps what people are asked, and begins to wait for them.
 *
 * @param within written in the same transaction: a call that is run once they have approved
 * @returns the run of the approval's workflow
 * @throws {Problem} `Unavailable`: nobody can be asked now; then nothing is kept
 */
export async function askPeople(
  { store, temporal }: Pick<Platform, "store" | "temporal">,
  approval: NewApproval,
  within?: (on: Db) => Promise<void>,
): Promise<string> {
  const client = await temporal();
  await store.asPlatform().transaction(async (trx) => {
    await putApproval(trx, approval);
    await within?.(trx);
  });
  const start = client.workflow.start(WORKFLOW.approval, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: workflowIdOf(approval.id),
    args: [requestOf(approval, within !== undefined)],
    staticSummary: `Asks people about ${approval.subject}`,
  });
  const handle = await told(start).catch(async (error) => {
    await dropAct(store.asPlatform(), approval.id);
    await dropApproval(store.asPlatform(), approval.id);
    throw error;
  });
  return handle.firstExecutionRunId;
}

/** As its workflow takes it. @param acts whether a call is run once it is approved */
export function requestOf(approval: NewApproval, acts: boolean): ApprovalRequest {
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

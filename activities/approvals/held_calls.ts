import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { createHeldCallRunner } from "../../calls/held_calls/mod.ts";
import { receiptIdOf } from "../../calls/mod.ts";
import { notifyTasks } from "../../operations/a2a/tasks/mod.ts";
import {
  type HeldCallResult,
  type RunId,
  TASK_QUEUE,
  tenantAttribute,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { setResumedRun } from "../../store/approvals/mod.ts";
import type { TenantParts } from "../parts.ts";

/** Creates the activities that run approved calls. */
export function heldCallActivities(parts: TenantParts) {
  const run = createHeldCallRunner(parts, parts.holder);

  /** Starts the workflow of an approved call. Safe to repeat: an approval has one such workflow, with one run. */
  async function startHeldCall(
    { approval_id }: { readonly approval_id: string },
  ): Promise<void> {
    const workflowId = `act-${approval_id}`;
    const { workflow } = await parts.temporal();
    try {
      const handle = await workflow.start(WORKFLOW.governedAct, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId,
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        args: [{ approval_id }],
        typedSearchAttributes: [tenantAttribute(parts.store.tenant)],
        staticSummary: `Runs the call that ${approval_id} allows`,
      });
      const run = { workflow_id: workflowId, run_id: handle.firstExecutionRunId };
      await setResumedRun(parts.store.db, approval_id, run);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  /**
   * Runs an approved call, at most once. Safe to repeat: the intent is sealed first, and a second attempt finds out what
   * became of the call.
   */
  async function runHeldCall(
    { approval_id, run: runId }: { readonly approval_id: string; readonly run: RunId },
  ): Promise<HeldCallResult> {
    const result = await run({
      approvalId: approval_id,
      run: runId,
      intentReceiptId: receiptIdOf(runId, "INTENT"),
      outcomeReceiptId: receiptIdOf(runId, "OUTCOME"),
    });
    await notifyTasks(parts, approval_id);
    return result;
  }

  return { startHeldCall, runHeldCall };
}

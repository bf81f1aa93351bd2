import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { createHeldCallRunner } from "../calls/held_calls/mod.ts";
import { receiptIdOf } from "../calls/mod.ts";
import { notifyTasks } from "../calls/tasks/mod.ts";
import { type HeldCallResult, type RunId, TASK_QUEUE, WORKFLOW } from "../domain/mod.ts";
import { setResumedRun } from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** Activities that run approved calls. */
export function governedActs(parts: ActivityParts) {
  const runHeldCall = createHeldCallRunner(parts);

  /** Starts the call's own workflow. Safe to repeat: it has one run for ever. */
  async function beginGovernedAct({ approval_id }: { approval_id: string }): Promise<void> {
    const workflowId = `act-${approval_id}`;
    const { workflow } = await parts.temporal();
    try {
      const handle = await workflow.start(WORKFLOW.governedAct, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId,
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        args: [{ approval_id }],
        staticSummary: `Runs the call that ${approval_id} allows`,
      });
      const run = { workflow_id: workflowId, run_id: handle.firstExecutionRunId };
      await setResumedRun(parts.store.asPlatform(), approval_id, run);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  /** Runs the call, at most once: a second attempt finds how far the first one came. */
  async function runGovernedAct(
    { approval_id, run }: { approval_id: string; run: RunId },
  ): Promise<HeldCallResult> {
    const result = await runHeldCall({
      approvalId: approval_id,
      run,
      intentReceiptId: receiptIdOf(run, "INTENT"),
      outcomeReceiptId: receiptIdOf(run, "OUTCOME"),
    });
    await notifyTasks(parts, approval_id);
    return result;
  }

  return { beginGovernedAct, runGovernedAct };
}

import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { type GovernedActResult, type RunId, TASK_QUEUE, WORKFLOW } from "../domain/mod.ts";
import { Problem } from "../contract/mod.ts";
import { setResumedRun } from "../store/mod.ts";
import { type ActivityParts, receiptIdOf } from "./_parts.ts";

/** What follows when people have approved a call. */
export function governedActs({ store, temporal, runAct, calls }: ActivityParts) {
  /** Starts the call's own workflow. Safe to repeat: it has one run for ever. */
  async function beginGovernedAct({ approval_id }: { approval_id: string }): Promise<void> {
    const workflowId = `act-${approval_id}`;
    try {
      const handle = await temporal.workflow.start(WORKFLOW.governedAct, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId,
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        args: [{ approval_id }],
        staticSummary: `Runs what ${approval_id} allows`,
      });
      const run = { workflow_id: workflowId, run_id: handle.firstExecutionRunId };
      await setResumedRun(store.asPlatform(), approval_id, run);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  /** Runs the call, at most once: a second attempt finds how far the first one came. */
  async function runGovernedAct(
    { approval_id, run }: { approval_id: string; run: RunId },
  ): Promise<GovernedActResult> {
    if (!runAct) throw new Problem("Unavailable", "This worker has no operations to run");
    const result = await runAct({
      approvalId: approval_id,
      run,
      intentReceiptId: receiptIdOf(run, "INTENT"),
      outcomeReceiptId: receiptIdOf(run, "OUTCOME"),
    });
    await calls?.tell(approval_id);
    return result;
  }

  return { beginGovernedAct, runGovernedAct };
}

import type { Platform } from "../calls/mod.ts";
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
} from "@temporalio/client";
import { TASK_QUEUE, WORKFLOW } from "../domain/mod.ts";
import type { StepOutcome } from "../runbooks/mod.ts";

/** Types that stand for ever under one id; starting one that runs changes nothing. */
const STANDING: Readonly<Record<string, string>> = {
  [WORKFLOW.ledgerSequencer]: "ledger-sequencer",
};
const OF_THE_LEDGER: ReadonlySet<string> = new Set([
  WORKFLOW.ledgerSequencer,
  WORKFLOW.scrubLedger,
]);

/** Runs workflows for steps of runbooks: one an effect, whose id it carries. */
export function startingWorkflows(temporal: Platform["temporal"]) {
  return async (type: string, effectId: string, withinMs: number): Promise<StepOutcome> => {
    const standing = STANDING[type];
    const workflowId = standing ?? `runbook-${effectId}`;
    const handle = await startOrFind(type, workflowId, standing !== undefined);
    if (standing) return { state: "done", ok: true, code: "running" };
    return await endOf(handle, withinMs);
  };

  async function startOrFind(
    type: string,
    workflowId: string,
    again: boolean,
  ): Promise<WorkflowHandle> {
    const taskQueue = OF_THE_LEDGER.has(type) ? TASK_QUEUE.ledger : TASK_QUEUE.itsm;
    try {
      return await (await temporal()).workflow.start(type, {
        workflowId,
        taskQueue,
        args: [],
        workflowIdConflictPolicy: "USE_EXISTING",
        workflowIdReusePolicy: again ? "ALLOW_DUPLICATE" : "REJECT_DUPLICATE",
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return (await temporal()).workflow.getHandle(workflowId);
    }
  }
}

/** Waits for the end, but no longer than this; one that goes on is no failure. */
async function endOf(handle: WorkflowHandle, withinMs: number): Promise<StepOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<StepOutcome>((resolve) => {
    timer = setTimeout(() => resolve({ state: "done", ok: true, code: "goes_on" }), withinMs);
  });
  const end = handle.result().then(
    (): StepOutcome => ({ state: "done", ok: true, code: "completed" }),
    (error: unknown): StepOutcome => {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return { state: "done", ok: false, code: "failed" };
    },
  );
  try {
    return await Promise.race([end, over]);
  } finally {
    clearTimeout(timer);
    end.catch(() => {}); // nobody waits for it any more
  }
}

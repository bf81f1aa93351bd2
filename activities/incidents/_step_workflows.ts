import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
} from "@temporalio/client";
import type { Platform } from "../../calls/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import type { StepOutcome } from "../../judgement/runbooks/mod.ts";

/** Workflow ids of types that run for ever; starting one that runs changes nothing. */
const PERMANENT_IDS: Readonly<Record<string, string>> = {
  [WORKFLOW.ledgerSequencer]: "ledger-sequencer",
};
/** Task queues of types that the queue of incidents does not run. */
const QUEUES: Readonly<Record<string, string>> = {
  [WORKFLOW.ledgerSequencer]: TASK_QUEUE.sequencer,
  [WORKFLOW.scrubLedger]: TASK_QUEUE.ledger,
};

/** Returns a function that runs the workflow of a runbook's step: one run for each effect. */
export function createWorkflowRunner(temporal: Platform["temporal"]) {
  return async (type: string, effectId: string, withinMs: number): Promise<StepOutcome> => {
    const permanentId = PERMANENT_IDS[type];
    const handle = await startOrFind(type, permanentId ?? `runbook-${effectId}`, !!permanentId);
    if (permanentId) return { state: "done", ok: true, code: "running" };
    return await waitForEnd(handle, withinMs);
  };

  async function startOrFind(
    type: string,
    workflowId: string,
    isPermanent: boolean,
  ): Promise<WorkflowHandle> {
    const { workflow } = await temporal();
    try {
      return await workflow.start(type, {
        workflowId,
        taskQueue: QUEUES[type] ?? TASK_QUEUE.itsm,
        args: [],
        workflowIdConflictPolicy: "USE_EXISTING",
        workflowIdReusePolicy: isPermanent ? "ALLOW_DUPLICATE" : "REJECT_DUPLICATE",
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return workflow.getHandle(workflowId);
    }
  }
}

/** Waits for a run to end. One that goes on after the time counts as done. */
async function waitForEnd(handle: WorkflowHandle, withinMs: number): Promise<StepOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<StepOutcome>((resolve) => {
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
    return await Promise.race([end, timeout]);
  } finally {
    clearTimeout(timer);
    end.catch(() => {}); // after the timeout nobody waits for it
  }
}

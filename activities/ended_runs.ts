import { WorkflowNotFoundError } from "@temporalio/client";
import type { RunId } from "../domain/mod.ts";
import {
  abandonEffects,
  addTicketEvent,
  type Db,
  escalateTicketOfRun,
  listOpenRuns,
} from "../store/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { LOOP_ACTOR } from "../domain/mod.ts";
import { receiptIdOf } from "../calls/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** A run whose ticket is open though the run has ended. */
export interface EndedRun extends RunId {
  readonly ticket_id: string;
  /**
   * How Temporal says it ended: TERMINATED, TIMED_OUT, FAILED, CANCELLED, COMPLETED; NOT_FOUND: too long ago;
   * REPLACED: a new run about the same fault is there.
   */
  readonly status: string;
}

/** What is done about runs that were ended from outside. */
export function endedRuns({ store, temporal }: ActivityParts) {
  /** Looks for open tickets whose run has ended without closing them. Safe to repeat: it only looks. */
  async function findEndedRuns(): Promise<EndedRun[]> {
    const ended: EndedRun[] = [];
    for (const { ticketId, workflowId, runId } of await listOpenRuns(store.asPlatform())) {
      const status = await statusOf(workflowId, runId);
      if (status === "RUNNING") continue;
      ended.push({ ticket_id: ticketId, workflow_id: workflowId, run_id: runId, status });
    }
    return ended;
  }

  async function statusOf(workflowId: string, runId: string): Promise<string> {
    try {
      return (await (await temporal()).workflow.getHandle(workflowId, runId).describe()).status
        .name;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return "NOT_FOUND";
      throw error;
    }
  }

  /** Seals that a run was ended from outside, and leaves its ticket to people. Safe to repeat: the run names the receipt. */
  async function sealEndedRun(ended: EndedRun): Promise<void> {
    await store.asPlatform().transaction((trx) => endRun(trx, ended));
  }

  return { findEndedRuns, sealEndedRun };
}

/** Escalates the ticket of a run that was ended from outside, and asks for the receipt; not if that is done. */
export async function endRun(
  on: Db,
  { ticket_id, status, workflow_id, run_id }: EndedRun,
): Promise<void> {
  const run = { workflow_id, run_id };
  const id = receiptIdOf(run, "ENDED");
  if (!await escalateTicketOfRun(on, ticket_id, run_id, id)) return;
  const unknown_effects = await abandonEffects(on, ticket_id);
  await addTicketEvent(on, ticket_id, {
    key: `${run_id}/ended`,
    kind: "escalated",
    phase: "sealed",
    data: { status, receipt_id: id, unknown_effects },
  });
  await requestSeal(on, {
    id,
    category: "escalation",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: "run.ended",
    outcome: unknown_effects > 0 ? "unknown" : "escalated",
    details: { status, unknown_effects, ...run },
  });
}

import { getRunStatus, receiptIdOf } from "../../calls/mod.ts";
import { LOOP_ACTOR, type RunId } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  abandonEffects,
  addTicketEvent,
  escalateTicketOfRun,
  listOpenRuns,
} from "../../store/incidents/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** A run that has ended although its ticket is open. */
export interface EndedRun extends RunId {
  readonly tenant_id: string;
  readonly ticket_id: string;
  /**
   * Temporal's status: TERMINATED, TIMED_OUT, FAILED, CANCELLED, COMPLETED; NOT_FOUND: it ended too long ago; REPLACED:
   * there is a new run for the same fault.
   */
  readonly status: string;
}

/** Creates the activities about runs that were ended from outside. */
export function endedRunActivities({ store, temporal }: ActivityParts) {
  /** Finds open tickets of all tenants whose run has ended without closing them. Safe to repeat: it only reads. */
  async function findEndedRuns(): Promise<EndedRun[]> {
    const ended: EndedRun[] = [];
    for (const tenant_id of await listTenants(store.db)) {
      for (const { ticketId, workflowId, runId } of await listOpenRuns(store.asTenant(tenant_id))) {
        const { status } = await getRunStatus(temporal, workflowId, runId);
        if (status === "RUNNING") continue;
        ended.push({
          tenant_id,
          ticket_id: ticketId,
          workflow_id: workflowId,
          run_id: runId,
          status,
        });
      }
    }
    return ended;
  }

  /** Escalates the ticket of a run that was ended from outside, and seals that. Safe to repeat: the run names the receipt. */
  async function sealEndedRun(ended: EndedRun): Promise<void> {
    await store.asTenant(ended.tenant_id).transaction((trx) => recordEndedRun(trx, ended));
  }

  return { findEndedRuns, sealEndedRun };
}

/** Escalates the ticket of a run that was ended from outside, and requests the receipt; once. */
export async function recordEndedRun(
  trx: Db,
  { ticket_id, status, workflow_id, run_id }: Omit<EndedRun, "tenant_id">,
): Promise<void> {
  const run = { workflow_id, run_id };
  const id = receiptIdOf(run, "ENDED");
  if (!await escalateTicketOfRun(trx, ticket_id, run_id, id)) return;
  const unknown_effects = await abandonEffects(trx, ticket_id);
  await addTicketEvent(trx, ticket_id, {
    key: `${run_id}/ended`,
    kind: "escalated",
    phase: "sealed",
    data: { status, receipt_id: id, unknown_effects },
  });
  await requestSeal(trx, {
    id,
    category: "escalation",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: "run.ended",
    outcome: unknown_effects > 0 ? "unknown" : "escalated",
    details: { status, unknown_effects, ...run },
  });
}

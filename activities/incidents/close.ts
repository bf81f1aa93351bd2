import { receiptIdOf } from "../../calls/mod.ts";
import {
  COMES_BACK,
  RESTART_ASKED,
  say,
  type Text,
  type TimelineStep,
} from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { timelineOf } from "../../operations/incidents/tickets/mod.ts";
import { countLoop } from "../../runtime/metrics/mod.ts";
import {
  abandonEffects,
  addTicketEvent,
  escalateTicket,
  getRepeatSightings,
  getTicket,
  getTicketEvent,
  listObservations,
  listTicketEvents,
  resolveTicket,
  type TicketEvent,
} from "../../store/incidents/mod.ts";
import { fingerprintFault } from "../../store/mod.ts";
import { SEAL_TIMEOUT_MS } from "../ledger/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { recordProblem } from "./_problem.ts";
import { isByApprover } from "./_requester.ts";
import { type CloseOrder, type CloseReceipt, closeReceiptOf } from "./_close_receipt.ts";

/** Creates the activity that ends a run. */
export function closeActivities({ store, sealer }: ActivityParts) {
  const db = store.db;

  /**
   * Closes or escalates the ticket and requests the run's receipt, in one transaction; then waits until the receipt is
   * sealed. Safe to repeat: the run names the receipt, and a closed ticket stays as it is.
   *
   * @returns receipt id
   */
  async function closeAndSeal(order: CloseOrder): Promise<string> {
    const { ticket_id, run, summary } = order;
    const { code, report, requested_by } = order.finding;
    const isAsked = code === RESTART_ASKED && report !== undefined;
    const [ticket, repeats, observations, events, isByPerson] = await Promise.all([
      getTicket(db, ticket_id),
      getRepeatSightings(db, ticket_id),
      listObservations(db, ticket_id, run.run_id),
      listTicketEvents(db, ticket_id),
      isAsked && isByApprover(db, requested_by),
    ]);
    const id = receiptIdOf(run, "CLOSE+SEAL");
    const receipt = {
      id,
      ...closeReceiptOf(order, ticket, repeats, observations, untilNow(timelineOf(events))),
      ...(isByPerson ? { human_input: report! } : {}),
    };
    try {
      if (summary.outcome !== "sealed" || !await resolve(order, receipt)) {
        await escalateOrEnd(order, receipt);
      }
    } catch (error) {
      // An earlier attempt may have ended it, and a sighting or an event has come since, so that the receipts differ.
      if (!await getTicketEvent(db, ticket_id, endKey(order))) throw error;
    }
    await sealer.sealed(id, { timeoutMs: SEAL_TIMEOUT_MS });
    countLoop(summary.outcome);
    return id;
  }

  /** @returns false if the ticket was not open */
  async function resolve(order: CloseOrder, receipt: CloseReceipt): Promise<boolean> {
    const { ticket_id, summary: { outcome } } = order;
    const resolution = resolutionOf(order);
    return await db.transaction(async (trx) => {
      const end = { outcome, resolution, receiptId: receipt.id };
      if (!await resolveTicket(trx, ticket_id, end)) return false;
      await addTicketEvent(trx, ticket_id, endEventOf(order, receipt.id, "resolved"));
      await requestSeal(trx, receipt);
      return true;
    });
  }

  /** Escalates the ticket; one that is closed already stays as it is. */
  async function escalateOrEnd(order: CloseOrder, receipt: CloseReceipt): Promise<void> {
    const { ticket_id, summary: { outcome, reason } } = order;
    await db.transaction(async (trx) => {
      const isEscalation = outcome === "escalated";
      const isEscalated = isEscalation && await escalateTicket(trx, ticket_id, receipt.id);
      if (isEscalation) await abandonEffects(trx, ticket_id);
      if (isEscalation && reason === COMES_BACK) {
        const { service, fingerprint } = order.finding;
        await recordProblem(
          trx,
          order,
          await fingerprintFault(store, service ?? fingerprint, "problem"),
        );
      }
      const event = endEventOf(order, receipt.id, isEscalated ? "escalated" : "run_ended");
      await addTicketEvent(trx, ticket_id, event);
      await requestSeal(trx, receipt);
    });
  }

  return { closeAndSeal };
}

/** Leaves out the end that an earlier attempt has written. */
const untilNow = (timeline: readonly TimelineStep[]) =>
  timeline.at(-1)?.step === "seal" ? timeline.slice(0, -1) : timeline;

const endKey = ({ run }: CloseOrder) => `${run.run_id}/ended`;

function endEventOf(
  order: CloseOrder,
  receiptId: string,
  kind: "resolved" | "escalated" | "run_ended",
): TicketEvent {
  const { outcome, reason } = order.summary;
  return {
    key: endKey(order),
    kind,
    phase: kind === "run_ended" ? undefined : "sealed",
    data: { receipt_id: receiptId, outcome, ...(reason ? { reason } : {}) },
  };
}

function resolutionOf(
  { finding, summary: { diagnosis, effect, rounds } }: CloseOrder,
): Text {
  const { runbook, version } = diagnosis?.action ?? {};
  if (finding.code === RESTART_ASKED) {
    return say`Restarted as it was asked for, by runbook ${runbook} ${version}, and found healthy`;
  }
  return effect
    ? say`Runbook ${runbook} ${version}, and found healthy in round ${rounds}`
    : say`Found healthy before anything was done`;
}

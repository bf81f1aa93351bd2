import { receiptIdOf } from "../../calls/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { countLoop } from "../../runtime/metrics/mod.ts";
import {
  abandonEffects,
  addTicketEvent,
  escalateTicket,
  getRepeatSightings,
  getTicket,
  getTicketEvent,
  listObservations,
  resolveTicket,
  type TicketEvent,
} from "../../store/incidents/mod.ts";
import { SEAL_TIMEOUT_MS } from "../ledger/mod.ts";
import type { ActivityParts } from "../parts.ts";
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
    const [ticket, repeats, observations] = await Promise.all([
      getTicket(db, ticket_id),
      getRepeatSightings(db, ticket_id),
      listObservations(db, ticket_id, run.run_id),
    ]);
    const id = receiptIdOf(run, "CLOSE+SEAL");
    const receipt = { id, ...closeReceiptOf(order, ticket, repeats, observations) };
    try {
      if (summary.outcome !== "sealed" || !await resolve(order, receipt)) {
        await escalateOrEnd(order, receipt);
      }
    } catch (error) {
      // An earlier attempt may have ended it, and a sweep has counted a sighting since, so that the receipts differ.
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
    const { ticket_id, summary: { outcome } } = order;
    await db.transaction(async (trx) => {
      const isEscalation = outcome === "escalated";
      const isEscalated = isEscalation && await escalateTicket(trx, ticket_id, receipt.id);
      if (isEscalation) await abandonEffects(trx, ticket_id);
      const event = endEventOf(order, receipt.id, isEscalated ? "escalated" : "run_ended");
      await addTicketEvent(trx, ticket_id, event);
      await requestSeal(trx, receipt);
    });
  }

  return { closeAndSeal };
}

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

function resolutionOf({ summary: { diagnosis, effect, rounds } }: CloseOrder): string {
  const { runbook, version } = diagnosis?.action ?? {};
  return effect
    ? `Runbook ${runbook} ${version}, and found healthy in round ${rounds}`
    : "Found healthy before anything was done";
}

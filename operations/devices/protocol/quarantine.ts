import { createHash } from "node:crypto";
import { randomHex, requestSeal } from "../../../ledger/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { type DeviceRecord, quarantineDevice } from "../../../store/devices/mod.ts";
import { addTicketEvent, escalateTicket, openTicket } from "../../../store/incidents/mod.ts";

/** Why a device is quarantined, by code: what people read in its ticket. */
const REASONS = {
  cloned: {
    title: "was cloned",
    description:
      "Two programs have its key: one has used a number of a heartbeat that the other had used. Find the copy, and enrol " +
      "the machine anew with a key of its own; or, if a backup of its folder was put back and there is no other",
  },
  journal_rolled_back: {
    title: "has lost a part of its journal",
    description:
      "The journal by which it never runs a command twice ends earlier than it did, or otherwise. Find out whether it is a " +
      "copy, or its folder was put back from a backup. If it may go on",
  },
} as const;

/** Why a device is quarantined. */
export type QuarantineReason = keyof typeof REASONS;

/**
 * Quarantines a device, with a receipt and a ticket of its tenant: it gets no commands until a person decides. A device
 * that is quarantined stays as it is.
 */
export async function quarantine(
  db: Db,
  { id, name }: Pick<DeviceRecord, "id" | "name">,
  reason: QuarantineReason,
): Promise<void> {
  await db.transaction(async (trx) => {
    if (!await quarantineDevice(trx, id, reason)) return;
    const { title, description } = REASONS[reason];
    const { id: receiptId } = await requestSeal(trx, {
      id: randomHex(16),
      category: "device_quarantined",
      actor: "gateway",
      subject: id,
      action: "quarantine",
      outcome: reason,
    });
    const ticketId = `INC-${createHash("sha256").update(receiptId).digest("hex").slice(0, 12)}`;
    await openTicket(trx, {
      id: ticketId,
      title: `The device ${name} (${id}) ${title}`,
      description: `${description}: npm run devices -- release ${id}. Receipt ${receiptId}.`,
      severity: "critical",
      category: "security",
      phase: "ticketed",
      service: null,
      fingerprint: null,
      workflowId: null,
      runId: null,
      requestedBy: `key:${id}`,
    });
    await escalateTicket(trx, ticketId, receiptId);
    await addTicketEvent(trx, ticketId, { key: "opened", kind: "opened", phase: "ticketed" });
    const data = { receipt_id: receiptId };
    await addTicketEvent(trx, ticketId, { key: "quarantined", kind: "escalated", data });
  });
}

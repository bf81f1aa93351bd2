import { createHash } from "node:crypto";
import { PLATFORM_TENANT } from "../../../contract/domain/mod.ts";
import { requestSeal } from "../../../ledger/mod.ts";
import { type Db, inTenant } from "../../../store/mod.ts";
import { addSplitView } from "../../../store/devices/mod.ts";
import { addTicketEvent, escalateTicket, openTicket } from "../../../store/incidents/mod.ts";
import type { CosignedCheckpoint } from "./cosignature.ts";

/** Fault of the ticket, which is open once however many devices have seen another log. */
const FINGERPRINT = "split-view";

/**
 * Records that the log's key has signed another log than the one that is published, as a device has seen it: with a public
 * receipt that shows the signed head to everybody, and a ticket of the operator's. Each head is sealed once.
 */
export async function recordSplitView(
  db: Db,
  deviceId: string,
  cosigned: CosignedCheckpoint,
): Promise<void> {
  const { size, proof, cosignature } = cosigned;
  const root = Buffer.from(cosigned.root);
  const receiptId = createHash("sha256").update(`split view\n${proof}`).digest("hex").slice(0, 16);
  await db.transaction(async (trx) => {
    const view = { deviceId, size, root, note: proof, cosignature, receiptId };
    if (!await addSplitView(trx, view)) return;
    await requestSeal(trx, {
      id: receiptId,
      category: "split_view",
      actor: "gateway",
      subject: "log",
      action: "compare",
      outcome: "contradiction",
      details: { size, root: root.toString("hex"), checkpoint: proof },
    });
    await inTenant(
      trx,
      PLATFORM_TENANT,
      (operator) => openSplitViewTicket(operator, size, receiptId),
    );
  });
}

async function openSplitViewTicket(trx: Db, size: number, receiptId: string): Promise<void> {
  const id = `INC-${createHash("sha256").update(receiptId).digest("hex").slice(0, 12)}`;
  const opened = await openTicket(trx, {
    id,
    title: "A device has accepted another log than the published one",
    description:
      `Its checkpoint of ${size} receipts is signed by the log's key, and the log is shorter or has another root there. ` +
      "Either the ledger was put back from a backup, or somebody has shown two logs. Such a device runs no command. " +
      `Receipt ${receiptId} has the signed head.`,
    severity: "critical",
    category: "security",
    phase: "ticketed",
    service: null,
    fingerprint: FINGERPRINT,
    workflowId: null,
    runId: null,
    requestedBy: "schedule",
  });
  if (!opened) return;
  await escalateTicket(trx, id, receiptId);
  await addTicketEvent(trx, id, { key: "opened", kind: "opened", phase: "ticketed" });
  const data = { receipt_id: receiptId };
  await addTicketEvent(trx, id, { key: "split-view", kind: "escalated", data });
}

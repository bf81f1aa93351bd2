import { createHash } from "node:crypto";
import type { Queryable } from "./connection.ts";
import { addTicketEvent, openTicket } from "./tickets.ts";

/** A governed call of which nobody can prove what became. */
export interface UnknownCall {
  readonly tool: string;
  readonly keyId: string;
  /** Of its end, sealed as unknown. */
  readonly receiptId: string;
  /** Where they may look, as the end of a sentence that begins with: look. */
  readonly look?: string | undefined;
}

/** Id of the ticket in which people look. @param receiptId of the end, sealed as unknown */
export function unknownCallTicketId(receiptId: string): string {
  const digest = createHash("sha256").update(`unknown\n${receiptId}`).digest("hex");
  return `INC-${digest.slice(0, 12)}`;
}

/** Opens a ticket for people to look at the world, once a call. @returns its id */
export async function openUnknownCallTicket(
  on: Queryable,
  { tool, keyId, receiptId, look = "at what it acts on" }: UnknownCall,
): Promise<string> {
  const id = unknownCallTicketId(receiptId);
  const opened = await openTicket(on, {
    id,
    title: `Nobody knows whether ${tool} was done`,
    description:
      `Its process ended in the midst of it. Look ${look}, and resolve this ticket with what you found. ` +
      `Receipt ${receiptId}.`,
    ...{ severity: "high", phase: "ticketed", service: null, fingerprint: null },
    ...{ workflowId: null, runId: null, requestedBy: `key:${keyId}` },
  });
  if (!opened) return id;
  await on("tickets").where({ id }).update({ escalated: true });
  await addTicketEvent(on, id, { key: "opened", kind: "opened", phase: "ticketed" });
  await addTicketEvent(on, id, {
    key: "unknown",
    kind: "escalated",
    data: { receipt_id: receiptId },
  });
  return id;
}

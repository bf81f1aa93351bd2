import { say, type Text } from "../../contract/domain/mod.ts";
import { createHash } from "node:crypto";
import type { Db } from "../connection.ts";
import { addTicketEvent, openTicket } from "./ticket_writes.ts";

/** A call whose outcome nobody can prove. */
export interface UnknownCall {
  readonly tool: string;
  readonly keyId: string;
  /** Receipt of its end, sealed as unknown. */
  readonly receiptId: string;
  /** Where people may look: the end of a sentence that begins with "Look". */
  readonly look?: Text | undefined;
}

/** Returns the id of the ticket about a call. @param receiptId of its end, sealed as unknown */
export function unknownCallTicketId(receiptId: string): string {
  const digest = createHash("sha256").update(`unknown\n${receiptId}`).digest("hex");
  return `INC-${digest.slice(0, 12)}`;
}

/** Opens a ticket that asks people to find out what a call did, once a call. @returns its id */
export async function openUnknownCallTicket(
  trx: Db,
  { tool, keyId, receiptId, look = say`at what it acts on` }: UnknownCall,
): Promise<string> {
  const id = unknownCallTicketId(receiptId);
  const opened = await openTicket(trx, {
    id,
    title: say`Nobody knows whether ${tool} was done`,
    description:
      say`Its process ended in the midst of it. Look ${look}, and resolve this ticket with what you found. Receipt ${receiptId}.`,
    severity: "high",
    phase: "ticketed",
    service: null,
    fingerprint: null,
    workflowId: null,
    runId: null,
    requestedBy: `key:${keyId}`,
  });
  if (!opened) return id;
  await trx.execute("UPDATE tickets SET escalated = true WHERE id = $1", [id]);
  await addTicketEvent(trx, id, { key: "opened", kind: "opened", phase: "ticketed" });
  await addTicketEvent(trx, id, {
    key: "unknown",
    kind: "escalated",
    data: { receipt_id: receiptId },
  });
  return id;
}

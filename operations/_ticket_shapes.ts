import { z } from "zod";
import { Problem } from "../contract/mod.ts";
import { getReceipt } from "../ledger/mod.ts";
import { getTicket, type Store, type Ticket } from "../store/mod.ts";
import { Moment, Timestamp } from "./_shapes.ts";

/** Id of a ticket. */
export const TicketId = z.string().regex(
  /^INC-[0-9a-f]{12}$/,
  "Expected INC- and 12 hex characters",
)
  .describe("Ticket id");

/** How bad it is. */
export const Severity = z.enum(["critical", "high", "medium", "low"]).describe(
  "critical: a core service down or an attack under way, for many; high: badly degraded or soon down; medium: some users " +
    "or a workaround; low: cosmetic, a request, no hurry",
);

/** Where a ticket stands. */
export const TicketStatus = z.enum(["open", "resolved"]);

/** Asks for what is not older. */
export const Since = Moment.optional();

/** A ticket, as lists have it. */
export const TicketShape = z.object({
  ticket_id: TicketId,
  title: z.string(),
  description: z.string(),
  severity: Severity,
  category: z.string().nullable().describe("network, dns, database, …; null: not diagnosed"),
  status: TicketStatus,
  phase: z.enum(["detected", "ticketed", "diagnosed", "remediated", "verified", "sealed"]).describe(
    "The last step of the loop that it has reached",
  ),
  escalated: z.boolean().describe("It waits for people"),
  service: z.string().nullable(),
  workflow_id: z.string().nullable().describe("The loop's; null: people opened it"),
  run_id: z.string().nullable(),
  outcome: z.string().nullable().describe("sealed, escalated or resolved; null: not yet"),
  resolution: z.string().nullable(),
  receipt_id: z.string().nullable().describe("The receipt that tells how it ended"),
  approval_id: z.string().nullable().describe(
    "The approval that an open one waits for: POST /v1/approvals/{approval_id}/approve or /deny; null: none",
  ),
  opened_at: Timestamp,
  resolved_at: Timestamp.nullable(),
}).meta({ id: "Ticket" });

/** A ticket with its receipt in it. */
export const TicketWithReceipt = TicketShape.extend({
  receipt: z.record(z.string(), z.unknown()).nullable().describe(
    "The embedded receipt, once it is sealed",
  ),
});

/** A ticket of the examples. */
export const exampleTicket = {
  ticket_id: "INC-4f1d22a90b7c",
  title: "billing fails its http check (refused)",
  description: "",
  severity: "high" as const,
  category: "application",
  status: "resolved" as const,
  phase: "sealed" as const,
  escalated: false,
  service: "billing",
  workflow_id: "loop-1d0f6a2b9c3e4857",
  run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
  outcome: "sealed",
  resolution: "Restarted and verified healthy in round 1",
  receipt_id: "9f2c4b7a01d3e856",
  approval_id: null,
  opened_at: "2026-07-01T12:00:00.000Z",
  resolved_at: "2026-07-01T12:00:01.000Z",
};

/** A ticket by id. @throws {Problem} `NotFound` */
export async function existingTicket(store: Store, id: string): Promise<Ticket> {
  const ticket = await getTicket(store.asPlatform(), id);
  if (!ticket) throw new Problem("NotFound", `There is no ticket ${id}`);
  return ticket;
}

/** A receipt, or null where there is none or where it is not sealed yet. */
export async function receiptOf(
  store: Store,
  receiptId: string | null,
): Promise<Record<string, unknown> | null> {
  const receipt = receiptId === null ? undefined : await getReceipt(store, receiptId);
  return receipt ? JSON.parse(receipt.text) : null;
}

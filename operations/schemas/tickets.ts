import { z } from "zod";
import { PHASES, SEVERITIES } from "../../contract/domain/mod.ts";
import { Timestamp } from "../../contract/records/mod.ts";
import { DateTime, EXAMPLE_RUN_ID } from "./common.ts";

/** Id of a ticket. */
export const TicketId = z.string()
  .regex(/^INC-[0-9a-f]{12}$/, "Expected INC- and 12 hex characters")
  .describe("Id of the ticket, such as INC-4f1d22a90b7c");

/** Severity of a ticket. */
export const Severity = z.enum(SEVERITIES).describe(
  "critical: a core service is down or under attack, for many users; high: badly degraded, or soon down; medium: some " +
    "users, or there is a workaround; low: cosmetic, or a request without urgency",
);

/** Status of a ticket. */
export const TicketStatus = z.enum(["open", "resolved"]);

/** Lower limit of a time range. */
export const Since = DateTime.optional();

/** A ticket. */
export const Ticket = z.object({
  ticket_id: TicketId,
  title: z.string(),
  description: z.string(),
  severity: Severity,
  category: z.string().nullable().describe("network, dns, database, …; null: not diagnosed"),
  status: TicketStatus,
  phase: z.enum(PHASES).describe("The last step of the loop that the ticket has reached"),
  escalated: z.boolean().describe("True: the ticket waits for people"),
  service: z.string().nullable(),
  workflow_id: z.string().nullable().describe("Workflow of the loop; null: a person opened it"),
  run_id: z.string().nullable(),
  outcome: z.string().nullable().describe("sealed, escalated or resolved; null: none yet"),
  resolution: z.string().nullable(),
  receipt_id: z.string().nullable().describe("Receipt of the ticket's end"),
  approval_id: z.string().nullable().describe(
    "Approval that an open ticket waits for: POST /v1/approvals/{approval_id}/approve or /deny; null: none",
  ),
  acknowledged_by: z.string().nullable().describe(
    "Who has acknowledged it, so that nobody is told of it any more; null: nobody",
  ),
  acknowledged_at: Timestamp.nullable(),
  taken_by: z.string().nullable().describe(
    "Who has taken it, so that the platform leaves it alone; null: nobody",
  ),
  taken_at: Timestamp.nullable(),
  problem_id: z.string().nullable().describe(
    "Ticket of the problem that it is a case of, as its fault comes back again and again; null: none",
  ),
  last_good_at: Timestamp.nullable().describe(
    "When its service passed its check last before, from which the time to restore counts; null: not known",
  ),
  opened_at: Timestamp,
  resolved_at: Timestamp.nullable(),
}).meta({ id: "Ticket" });

/** A ticket with the content of its receipt. */
export const TicketWithReceipt = Ticket.extend({
  receipt: z.record(z.string(), z.unknown()).nullable().describe(
    "The embedded receipt; null: there is none, or it is not sealed yet",
  ),
});

/** A move in the timeline of a ticket. */
export const TicketEvent = z.object({
  at: Timestamp,
  kind: z.string().describe(
    "detected, opened, taken_over, acknowledged, taken, handed_back, retry_asked, diagnosed, approval_requested, approval_approved, intended, remediated, verified, " +
      "resolved, escalated, …",
  ),
  phase: z.string().nullable().describe("The step of the loop that the ticket reached by it"),
  data: z.record(z.string(), z.unknown()).describe(
    "Ids, codes and counts; receipt_id where the event is sealed",
  ),
});

/** A ticket, in examples. */
export const exampleTicket = {
  ticket_id: "INC-4f1d22a90b7c",
  title: "billing fails its http check (refused)",
  description: "",
  severity: "high",
  category: "application",
  status: "resolved",
  phase: "sealed",
  escalated: false,
  service: "billing",
  workflow_id: "loop-1d0f6a2b9c3e4857",
  run_id: EXAMPLE_RUN_ID,
  outcome: "sealed",
  resolution: "Restarted and verified healthy in round 1",
  receipt_id: "9f2c4b7a01d3e856",
  approval_id: null,
  acknowledged_by: null,
  acknowledged_at: null,
  taken_by: null,
  taken_at: null,
  problem_id: null,
  last_good_at: "2026-07-01T11:59:52.000Z",
  opened_at: "2026-07-01T12:00:00.000Z",
  resolved_at: "2026-07-01T12:00:01.000Z",
} as const satisfies z.output<typeof Ticket>;

/** Tells a ticket in one line: how it stands, what is wrong, and whom it waits for. */
export function tellTicket(ticket: z.output<typeof Ticket>): string {
  const { ticket_id, title, severity, status, escalated, opened_at, resolved_at } = ticket;
  const { resolution, approval_id, taken_by, receipt_id } = ticket;
  const state = status === "resolved"
    ? `resolved ${resolved_at ?? ""}${resolution ? `: ${resolution}` : ""}`
    : `open since ${opened_at}${escalated ? ", with people" : ""}`;
  const more = [
    ...(approval_id ? [`waits for approval ${approval_id}`] : []),
    ...(taken_by ? [`taken by ${taken_by}`] : []),
    ...(receipt_id ? [`receipt ${receipt_id}`] : []),
  ];
  return [`${ticket_id} (${severity}): ${title}`, state, ...more].join("; ") + ".";
}

import { z } from "zod";
import { type Caller, escapeInvisible } from "../../contract/mod.ts";
import type { ApprovalRecord } from "../../store/mod.ts";
import { Sha256, Timestamp } from "../_shapes.ts";
import { concerns } from "../../calls/approvals/mod.ts";

/** Id of an approval. */
export const ApprovalId = z.string().regex(
  /^APR-[0-9a-f]{12}$/,
  "Expected APR- and 12 hex characters",
)
  .describe("Approval id");

/** Where an approval can stand. */
export const ApprovalStatusShape = z.enum(["pending", "approved", "denied", "expired"]);

const Run = z.object({ workflow_id: z.string(), run_id: z.string() });

/** An approval, as lists have it. */
export const ApprovalShape = z.object({
  approval_id: ApprovalId,
  status: ApprovalStatusShape,
  subject: z.string().describe("What it is about: a ticket, or what a program named"),
  ticket_id: z.string().nullable(),
  description: z.string(),
  action: z.record(z.string(), z.unknown()).describe(
    "Exactly what is approved; of what another tenant asks about the tool alone, if it is a call",
  ),
  action_sha256: Sha256.describe(
    "Over the canonical JSON of action; another action needs another approval",
  ),
  requested_by: z.string().describe("Principal who asks, and so can't decide"),
  needed: z.number().int().describe("How many different people must approve"),
  approvers: z.array(z.object({ key_id: z.string(), principal: z.string() })),
  escalated: z.boolean().describe("People were told a second time"),
  asked_at: Timestamp,
  expires_at: Timestamp.nullable(),
  decided_at: Timestamp.nullable(),
  workflow_id: z.string(),
  asking_run: Run.nullable().describe("The loop that waits for it"),
  resumed_run: Run.nullable().describe("The loop that was started as that one had ended"),
}).meta({ id: "Approval" });

/** An approval of the examples. */
export const exampleApproval = {
  approval_id: "APR-5b1e09c77a42",
  status: "pending" as const,
  subject: "billing-cleaner",
  ticket_id: null,
  description: "Drop the table of last year's sessions",
  action: { command: "drop", table: "sessions_2025" },
  action_sha256: "1d9bb1a0c7d8c1b6f3a4f1a1f9a6f5a37a4b1a9a0f5a3de1a0b7a5a9c1e2f3a4",
  requested_by: "billing-cleaner",
  needed: 1,
  approvers: [],
  escalated: false,
  asked_at: "2026-07-01T12:00:00.000Z",
  expires_at: "2026-07-04T12:00:00.000Z",
  decided_at: null,
  workflow_id: "approval-APR-5b1e09c77a42",
  asking_run: null,
  resumed_run: null,
};

/** Id of an approval's workflow. */
export const workflowIdOf = (approvalId: string) => `approval-${approvalId}`;

/** A record in the names of the wire. */
export function shownApproval(record: ApprovalRecord) {
  const asking = record.askingRun as { workflow_id: string; run_id: string } | null;
  return {
    approval_id: record.id,
    status: record.status,
    subject: escapeInvisible(record.subject),
    ticket_id: record.ticketId,
    description: escapeInvisible(record.description),
    action: escapeInvisible({ ...record.action }),
    action_sha256: record.actionSha256,
    requested_by: escapeInvisible(record.requestedBy),
    needed: record.needed,
    approvers: [...record.approvers],
    escalated: record.escalated,
    asked_at: record.askedAt,
    expires_at: record.expiresAt,
    decided_at: record.decidedAt,
    workflow_id: workflowIdOf(record.id),
    asking_run: asking && { workflow_id: asking.workflow_id, run_id: asking.run_id },
    resumed_run: record.resumedRun,
  };
}

/**
 * The same as a caller may see it: what a tenant's key asks about is for that tenant and for admins; its hash, and how it
 * stands, is for everybody with a key.
 */
export function approvalFor(caller: Caller, record: ApprovalRecord) {
  const shown = shownApproval(record);
  if (concerns(caller, record)) return shown;
  const { operation, tool } = shown.action;
  return {
    ...shown,
    description: "What it is about is told to the tenant that asks",
    action: typeof operation === "string" ? { operation, tool } : {},
  };
}

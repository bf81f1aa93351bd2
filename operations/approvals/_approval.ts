import { z } from "zod";
import { approvalWorkflowId, noticeOf, targetOfAction } from "../../calls/approvals/mod.ts";
import { escapeInvisible } from "../../contract/mod.ts";
import { ApprovalGrounds, groundsOf } from "../../contract/records/mod.ts";
import type { Platform } from "../../calls/mod.ts";
import { type ApprovalRecord, findApprovalOwner } from "../../store/approvals/mod.ts";
import { Sha256, Timestamp } from "../schemas/mod.ts";

/** Id of an approval. */
export const ApprovalId = z.string()
  .regex(/^APR-[0-9a-f]{12}$/, "Expected APR- and 12 hex characters")
  .describe("Id of the approval, such as APR-5b1e09c77a42");

/** Status of an approval. */
export const ApprovalStatus = z.enum(["pending", "approved", "denied", "expired", "outdated"]);

const Run = z.object({ workflow_id: z.string(), run_id: z.string() });

/** An approval. */
export const Approval = z.object({
  approval_id: ApprovalId,
  status: ApprovalStatus,
  subject: z.string().describe("Ticket that the approval is about, or the requesting key"),
  ticket_id: z.string().nullable(),
  description: z.string().describe("What is asked for, in words"),
  ...ApprovalGrounds.shape,
  decide: z.string().describe("How to decide"),
  action: z.record(z.string(), z.unknown()).describe(
    "Exactly what is approved",
  ),
  action_sha256: Sha256.describe(
    "SHA-256 of the canonical JSON of the action; any other action needs another approval",
  ),
  action_commitment: Sha256.describe(
    "SHA-256 of action_salt, 32 bytes, and then the canonical JSON of the action: how the public receipts name it",
  ),
  action_salt: Sha256.describe(
    "Shown with the action, it proves to anybody which action the receipts are about",
  ),
  group: Sha256.describe(
    "SHA-256 of the action without its target: approvals that have the same ask for the same, of one target or another",
  ),
  target: z.string().nullable().describe("What the action is done to; null: it does not say"),
  requested_by: z.string().describe("Principal that asks, and therefore cannot decide"),
  needed: z.number().int().describe("How many different people must approve"),
  approvers: z.array(z.object({ key_id: z.string(), principal: z.string() })),
  escalated: z.boolean().describe("True: people were reminded"),
  asked_at: Timestamp,
  expires_at: Timestamp,
  decided_at: Timestamp.nullable(),
  tenant_id: z.string(),
  workflow_id: z.string(),
  asking_run: Run.nullable().describe("Run of the loop that waits for the approval"),
  resumed_run: Run.nullable().describe("Run of the loop that was started after that one had ended"),
}).meta({ id: "Approval" });

/** An approval, in examples. */
export const exampleApproval = {
  approval_id: "APR-5b1e09c77a42",
  status: "pending",
  subject: "billing-cleaner",
  ticket_id: null,
  description: "Drop the table of last year's sessions",
  ...ApprovalGrounds.parse(groundsOf({ reasons: ["A program asks before it acts"] })),
  decide: "npm run approvals -- approve APR-5b1e09c77a42 (or deny) on the platform's machine, or " +
    "POST /v1/approvals/APR-5b1e09c77a42/approve (or /deny) with a key that may approve",
  action: { command: "drop", table: "sessions_2025" },
  action_sha256: "1d9bb1a0c7d8c1b6f3a4f1a1f9a6f5a37a4b1a9a0f5a3de1a0b7a5a9c1e2f3a4",
  action_commitment: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
  action_salt: "93f2c07a51be6d841d0f6a2b9c3e48575f0c21ab9d3e4820c17b0a5e4f1d22a9",
  group: "1d9bb1a0c7d8c1b6f3a4f1a1f9a6f5a37a4b1a9a0f5a3de1a0b7a5a9c1e2f3a4",
  target: null,
  requested_by: "billing-cleaner",
  needed: 1,
  approvers: [],
  escalated: false,
  asked_at: "2026-07-01T12:00:00.000Z",
  expires_at: "2026-07-04T12:00:00.000Z",
  decided_at: null,
  tenant_id: "platform",
  workflow_id: "approval-APR-5b1e09c77a42",
  asking_run: null,
  resumed_run: null,
} satisfies z.output<typeof Approval>;

/** Converts a record. Characters that can't be seen are shown as their codes. */
export function toApproval(record: ApprovalRecord) {
  const asking = record.askingRun as { workflow_id: string; run_id: string } | null;
  return {
    approval_id: record.id,
    status: record.status,
    subject: escapeInvisible(record.subject),
    ticket_id: record.ticketId,
    description: escapeInvisible(record.description),
    ...noticeOf(record),
    action: escapeInvisible({ ...record.action }),
    action_sha256: record.actionSha256,
    action_commitment: record.actionCommitment,
    action_salt: record.actionSalt.toString("hex"),
    group: record.actionGroup,
    target: escapeInvisible(targetOfAction(record.action)),
    requested_by: escapeInvisible(record.requestedBy),
    needed: record.needed,
    approvers: record.approvers,
    escalated: record.escalated,
    asked_at: record.askedAt,
    expires_at: record.expiresAt,
    decided_at: record.decidedAt,
    tenant_id: record.tenant,
    workflow_id: approvalWorkflowId(record.id),
    asking_run: asking && { workflow_id: asking.workflow_id, run_id: asking.run_id },
    resumed_run: record.resumedRun,
  };
}

/** Returns the tenant that is asked about an approval, for people whose key is of tier admin. */
export async function approvalOwner(
  { approval_id }: { readonly approval_id: string },
  { store }: Pick<Platform, "store">,
): Promise<string | undefined> {
  return await findApprovalOwner(store.asPlatform(), approval_id);
}

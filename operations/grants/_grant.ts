import { z } from "zod";
import type { GrantRecord } from "../../store/grants/mod.ts";
import { Sha256, Timestamp } from "../schemas/mod.ts";

/** Id of a standing grant. */
export const GrantId = z.string().regex(/^GRN-[0-9a-f]{12}$/, "Expected GRN- and 12 hex characters")
  .describe("Id of the grant, such as GRN-5b1e09c77a42");

/** Terms of a grant. */
export const Terms = z.object({
  grant_id: GrantId,
  tenant_id: z.string(),
  acts: z.array(z.object({
    approval_id: z.string().describe("The approval that shows the act in full"),
    what: z.string().describe("The tool, or the runbook and its service"),
    action_sha256: Sha256,
  })).describe("It allows exactly these"),
  max_uses: z.number().int().describe("How often, all acts together"),
  expires_at: Timestamp,
  made_by: z.string().describe("Principal"),
  needed: z.number().int().describe("How many people it takes, the one who makes it among them"),
});

/** A grant. */
export const Grant = Terms.extend({
  state: z.enum(["asked", "in_force", "used_up", "expired", "revoked"]).describe(
    "asked: others have to approve it first",
  ),
  uses: z.number().int().describe("How often it was used"),
  approval_id: z.string().nullable().describe("Approval of the others that it takes; null: none"),
  made_at: Timestamp,
  revoked_at: Timestamp.nullable(),
  revoked_by: z.string().nullable(),
  receipt_id: z.string().describe("Receipt of the grant"),
});

/** Terms of a grant, in examples. */
export const exampleTerms: z.output<typeof Terms> = {
  grant_id: "GRN-5b1e09c77a42",
  tenant_id: "platform",
  acts: [{
    approval_id: "APR-5b1e09c77a42",
    what: "runbook restart-service 1.2.0 for shop",
    action_sha256: "1d9bb1a0c7d8c1b6f3a4f1a1f9a6f5a37a4b1a9a0f5a3de1a0b7a5a9c1e2f3a4",
  }],
  max_uses: 20,
  expires_at: "2026-07-08T12:00:00.000Z",
  made_by: "Ada",
  needed: 1,
};

/** A grant, in examples. */
export const exampleGrant: z.output<typeof Grant> = {
  ...exampleTerms,
  state: "in_force",
  uses: 3,
  approval_id: null,
  made_at: "2026-07-01T12:00:00.000Z",
  revoked_at: null,
  revoked_by: null,
  receipt_id: "9f2c4b7a01d3e856",
};

/** Converts a record. @param isApproved whether the others have approved it */
export function toGrant(record: GrantRecord, isApproved: boolean): z.output<typeof Grant> {
  const { terms, uses, approvalId, madeAt, revokedAt, revokedBy, receiptId } = record;
  return {
    ...terms,
    acts: [...terms.acts],
    state: stateOf(record, isApproved),
    uses,
    approval_id: approvalId,
    made_at: madeAt.toISOString(),
    revoked_at: revokedAt?.toISOString() ?? null,
    revoked_by: revokedBy,
    receipt_id: receiptId,
  };
}

function stateOf({ terms, uses, revokedAt, approvalId }: GrantRecord, isApproved: boolean) {
  if (revokedAt) return "revoked";
  if (Date.parse(terms.expires_at) <= Date.now()) return "expired";
  if (uses >= terms.max_uses) return "used_up";
  return approvalId === null || isApproved ? "in_force" : "asked";
}

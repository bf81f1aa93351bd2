import { z } from "zod";
import { listDecisions } from "../../store/mod.ts";
import { ReceiptId, Timestamp } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

/** What governance decided about the calls of the caller's own tenant. */
export const governanceDecisions = operation({
  name: "governance.decisions",
  group: "governance",
  summary: "List what governance decided about your tenant's calls, newest first",
  description:
    "Every call that changes something is decided before it runs. Each decision is sealed; its receipt and that of " +
    "how the call ended are named here.",
  effect: "read",
  access: "key",
  input: z.object({
    decision: z.enum(["allow", "needs_approval", "deny"]).optional()
      .describe("Only those decided so"),
    tool: z.string().min(1).max(200).optional().describe("Tool, or operation id over REST"),
    approval_id: z.string().min(1).max(40).optional().describe("Decisions about one approval"),
    limit: z.number().int().min(1).max(200).default(20).describe("Most decisions to give"),
  }),
  output: z.object({
    decisions: z.array(z.object({
      decision_id: z.string(),
      at: Timestamp,
      key_id: z.string(),
      principal: z.string(),
      door: z.enum(["rest", "mcp", "a2a"]),
      tool: z.string().describe("The name that the caller used"),
      operation: z.string(),
      effect: z.string(),
      decision: z.enum(["allow", "needs_approval", "deny"]),
      rule: z.string().describe("Rule of the policy, or what else decided"),
      reasons: z.array(z.string()),
      policy_version: z.string(),
      dry_run: z.boolean(),
      approval_id: z.string().nullable(),
      receipt_id: ReceiptId.describe("Of the decision"),
      call_receipt_id: z.string().nullable()
        .describe("Of how the call ended; null: the operation seals that with what it changes"),
    })),
  }),
  rest: { governance_decisions: "GET /v1/governance/decisions" },
  example: {
    input: { decision: "deny" },
    output: {
      decisions: [{
        decision_id: "GOV-5b1e09c77a42",
        at: "2026-07-02T09:14:05.120Z",
        key_id: "1f0c7b5a9d3e4820",
        principal: "night-agent",
        door: "mcp",
        tool: "rmm_run_script",
        operation: "rmm.run_script",
        effect: "run",
        decision: "deny",
        rule: "no-scripts-at-night",
        reasons: ["Scripts are run by day"],
        policy_version: "3-2f1c5d0b9a7e",
        dry_run: false,
        approval_id: null,
        receipt_id: "9f2c4b7a01d3e856",
        call_receipt_id: "0d28803817b5ab6d",
      }],
    },
  },
  run: async ({ decision, tool, approval_id, limit }, { store, caller }) => {
    const found = await listDecisions(store.asPlatform(), {
      ...{ tenant: caller.tenant, decision, tool, approvalId: approval_id, limit },
    });
    return {
      decisions: found.map((one) => ({
        decision_id: one.id,
        at: one.at.toISOString(),
        key_id: one.keyId,
        principal: one.principal,
        door: one.door as "rest" | "mcp" | "a2a",
        ...{ tool: one.tool, operation: one.operation, effect: one.effect, rule: one.rule },
        ...{ decision: one.decision, reasons: [...one.reasons], dry_run: one.dryRun },
        policy_version: one.policyVersion,
        approval_id: one.approvalId,
        receipt_id: one.receiptId,
        call_receipt_id: one.callReceiptId,
      })),
    };
  },
});

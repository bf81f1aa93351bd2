import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { DECISIONS } from "../../domain/mod.ts";
import { listDecisions } from "../../store/mod.ts";
import { Limit, ReceiptId, Timestamp } from "../schemas/mod.ts";

const Door = z.enum(["rest", "mcp", "a2a"]);

/** Governance decisions about the calls of the caller's tenant. */
export const governanceDecisions = operation({
  name: "governance.decisions",
  group: "governance",
  summary: "List the governance decisions about your tenant's calls, newest first",
  description:
    "Governance decides on every call that changes something, before the call runs. Each decision names its own receipt, " +
    "and the receipt of the call's end.",
  effect: "read",
  access: "key",
  input: z.object({
    decision: z.enum(DECISIONS).optional().describe("Only decisions of this kind"),
    tool: z.string().min(1).max(200).optional().describe(
      "Only calls of this tool, or over REST of this operation id",
    ),
    approval_id: z.string().min(1).max(40).optional().describe(
      "Only decisions that refer to this approval",
    ),
    limit: Limit,
  }),
  output: z.object({
    decisions: z.array(z.object({
      decision_id: z.string(),
      at: Timestamp,
      key_id: z.string(),
      principal: z.string(),
      door: Door.describe("Interface of the call"),
      tool: z.string().describe("Name that the caller used"),
      operation: z.string(),
      effect: z.string(),
      decision: z.enum(DECISIONS),
      rule: z.string().describe("Rule of the policy that decided, or what else did"),
      reasons: z.array(z.string()),
      caller_approves: z.boolean().describe(
        "True: a rule asked people, and the call, over REST with a key that may approve, was that person's decision",
      ),
      policy_version: z.string(),
      dry_run: z.boolean(),
      approval_id: z.string().nullable(),
      receipt_id: ReceiptId.describe("Receipt of the decision"),
      call_receipt_id: z.string().nullable().describe(
        "Receipt of the call's end; null: the operation seals its change itself",
      ),
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
        caller_approves: false,
        policy_version: "3-2f1c5d0b9a7e",
        dry_run: false,
        approval_id: null,
        receipt_id: "9f2c4b7a01d3e856",
        call_receipt_id: "0d28803817b5ab6d",
      }],
    },
  },
  run: async ({ decision, tool, approval_id, limit }, { store }) => {
    const filter = { decision, tool, approvalId: approval_id, limit };
    const decisions = await listDecisions(store.db, filter);
    return {
      decisions: decisions.map((one) => ({
        decision_id: one.id,
        at: one.at.toISOString(),
        key_id: one.keyId,
        principal: one.principal,
        door: Door.parse(one.door),
        tool: one.tool,
        operation: one.operation,
        effect: one.effect,
        decision: one.decision,
        rule: one.rule,
        reasons: one.reasons,
        caller_approves: one.callerApproves,
        policy_version: one.policyVersion,
        dry_run: one.dryRun,
        approval_id: one.approvalId,
        receipt_id: one.receiptId,
        call_receipt_id: one.callReceiptId,
      })),
    };
  },
});

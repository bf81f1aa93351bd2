import { z } from "zod";
import { DECISIONS } from "../../contract/domain/mod.ts";
import type { ListedDecision } from "../../store/calls/mod.ts";
import { Timestamp } from "../../contract/records/mod.ts";
import { ReceiptId } from "./common.ts";

const Door = z.enum(["rest", "mcp", "a2a"]);

/** A governance decision about one call. */
export const GovernedCall = z.object({
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
});

/** A decision, in examples. */
export const exampleDecision: z.output<typeof GovernedCall> = {
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
};

/** Returns a decision as callers get it. */
export function toGovernedCall(one: ListedDecision): z.output<typeof GovernedCall> {
  return {
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
    reasons: [...one.reasons],
    caller_approves: one.callerApproves,
    policy_version: one.policyVersion,
    dry_run: one.dryRun,
    approval_id: one.approvalId,
    receipt_id: one.receiptId,
    call_receipt_id: one.callReceiptId,
  };
}

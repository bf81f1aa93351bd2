import { z } from "zod";
import { castVote } from "../../calls/approvals/mod.ts";
import { type Context, operation } from "../../calls/mod.ts";
import type { ApproverSignature, VoteMove } from "../../store/approvals/mod.ts";
import { PasskeyAnswer, Sha256 } from "../schemas/mod.ts";
import { Approval, ApprovalId, approvalOwner, exampleApproval, toApproval } from "./_approval.ts";

/** The fields that the three decisions share. */
const common = {
  group: "people",
  effect: "run",
  access: "partner",
  input: z.object({
    approval_id: ApprovalId,
    reason: z.string().trim().min(1).max(1000).optional().describe(
      "Why, for people; it is private evidence of the receipt",
    ),
  }),
  output: Approval.extend({ receipt_id: z.string().nullable().describe("Receipt of the move") }),
  presentation: { errors: ["NotFound", "Conflict", "Forbidden", "Unavailable"] },
  governance: { rule: "key-decides", humanControl: true, unnamed: true, ownerOf: approvalOwner },
  durability: { sealsItself: true },
} as const;

/** Approves. */
export const approveRequest = operation({
  ...common,
  input: common.input.extend({
    signature: z.strictObject({
      key: Sha256.describe("Ed25519 public key of the approver, hex"),
      signature: z.string().regex(/^[0-9a-f]{128}$/, "Expected 128 hex characters"),
    }).optional().describe(
      "By the approver's own key, where a device is to run a command; `npm run approvals -- approve … --sign` makes it",
    ),
    passkey: PasskeyAnswer.optional().describe(
      "Of a person who has signed in to the console: their passkey's answer to the statement about this approval",
    ),
  }),
  name: "approvals.approve",
  summary: "Approve exactly the action that was asked for",
  description:
    "For people: needs a key that was issued with may_approve, of the asking tenant or of tier admin, whose holder did " +
    "not ask; on the console, its holder's passkey. Where several people must approve, the approval stays pending until the last of them does. A waiting loop " +
    "continues; one that has ended meanwhile is started again. Answers 409, and stays pending, while the action is " +
    "stopped by governance or the key that asked is no longer valid.",
  rest: { approvals_approve: "POST /v1/approvals/{approval_id}/approve" },
  example: exampleDecision("approved"),
  run: (decision, context) => vote("approved", decision, context),
});

/** Denies. */
export const denyRequest = operation({
  ...common,
  name: "approvals.deny",
  summary: "Deny the action that was asked for",
  description:
    "Needs the same right as approving. One denial is enough; the approval can be reopened.",
  rest: { approvals_deny: "POST /v1/approvals/{approval_id}/deny" },
  example: exampleDecision("denied"),
  run: (decision, context) => vote("denied", decision, context),
});

/** Reopens. */
export const reopenRequest = operation({
  ...common,
  name: "approvals.reopen",
  summary: "Reopen a denied or expired approval",
  description:
    "Needs the same right as approving. The approval is pending again, for the same time as at first; everyone who had " +
    "approved is asked again.",
  rest: { approvals_reopen: "POST /v1/approvals/{approval_id}/reopen" },
  example: exampleDecision("pending"),
  run: (decision, context) => vote("reopened", decision, context),
});

/** A person's decision. */
interface PersonDecision {
  readonly approval_id: string;
  readonly reason?: string | undefined;
  readonly signature?: ApproverSignature | undefined;
  readonly passkey?: z.output<typeof PasskeyAnswer> | undefined;
}

async function vote(
  move: VoteMove,
  { approval_id, reason, signature, passkey }: PersonDecision,
  context: Context,
) {
  const words = { reason: reason ?? null, signature: signature ?? null, passkey };
  const { approval, receiptId } = await castVote(move, approval_id, words, context);
  return { ...toApproval(approval), receipt_id: receiptId };
}

function exampleDecision(status: "approved" | "denied" | "pending") {
  return {
    input: { approval_id: exampleApproval.approval_id },
    output: { ...exampleApproval, status, receipt_id: "9f2c4b7a01d3e856" },
  };
}

import { z } from "zod";
import { ApprovalId, ApprovalShape, exampleApproval, shownApproval } from "./_shapes.ts";
import { castVote } from "../../calls/approvals/mod.ts";
import { type Context, operation } from "../../calls/mod.ts";
import type { VoteMove } from "../../store/mod.ts";

const common = {
  group: "people",
  effect: "run",
  access: "partner",
  humanControl: true,
  sealsItself: true,
  input: z.object({ approval_id: ApprovalId }),
  output: ApprovalShape.extend({
    receipt_id: z.string().nullable().describe("Receipt of this move"),
  }),
  errors: ["NotFound", "Conflict", "Forbidden", "Unavailable"],
} as const;

const example = (status: "approved" | "denied" | "pending") => ({
  input: { approval_id: exampleApproval.approval_id },
  output: { ...exampleApproval, status, receipt_id: "9f2c4b7a01d3e856" },
});

async function vote(move: VoteMove, approvalId: string, context: Context) {
  const { approval, receiptId } = await castVote(move, approvalId, context);
  return { ...shownApproval(approval), receipt_id: receiptId };
}

/** Approves. */
export const approvalsApprove = operation({
  ...common,
  name: "approvals.approve",
  summary: "Approve what is asked for, exactly as it is",
  description:
    "For people: takes a key issued with may_approve, of the tenant that asks or of tier admin, whose holder is not " +
    "the one who asks. Where several people are needed, it stays pending until the last of them. A loop that waits " +
    "goes on; one that has ended meanwhile is started anew. Refused with 409, and still pending, while what it would allow is stopped, or the key " +
    "that asked is not valid any more.",
  rest: { approvals_approve: "POST /v1/approvals/{approval_id}/approve" },
  example: example("approved"),
  run: ({ approval_id }, context) => vote("approved", approval_id, context),
});

/** Denies. */
export const approvalsDeny = operation({
  ...common,
  name: "approvals.deny",
  summary: "Deny what is asked for",
  description: "Takes the same right as approving. One denial is enough; it can be reopened.",
  rest: { approvals_deny: "POST /v1/approvals/{approval_id}/deny" },
  example: example("denied"),
  run: ({ approval_id }, context) => vote("denied", approval_id, context),
});

/** Asks again. */
export const approvalsReopen = operation({
  ...common,
  name: "approvals.reopen",
  summary: "Ask again what was denied or has expired",
  description:
    "Takes the same right as approving. It is pending anew, for the time that it had at first, and who had " +
    "approved is asked again.",
  rest: { approvals_reopen: "POST /v1/approvals/{approval_id}/reopen" },
  example: example("pending"),
  run: ({ approval_id }, context) => vote("reopened", approval_id, context),
});

import { WithStartWorkflowOperation } from "@temporalio/client";
import { z } from "zod";
import { Problem } from "../contract/mod.ts";
import { type ApprovalRecord, getAct } from "../store/mod.ts";
import {
  APPROVAL,
  type approval,
  type ApprovalRequest,
  approveUpdate,
  type AskingRun,
  denyUpdate,
  reopenUpdate,
  TASK_QUEUE,
  type Voice,
} from "../workflows/mod.ts";
import {
  ApprovalId,
  ApprovalShape,
  exampleApproval,
  shownApproval,
  workflowIdOf,
} from "./_approval_shapes.ts";
import { requestOf } from "./_ask_people.ts";
import { told } from "./_temporal.ts";
import { existingApproval } from "./approvals.ts";
import { type Context, operation } from "./platform.ts";

/** Longest that a decision waits for a worker to take it in. */
const DECIDED_WITHIN_MS = 10_000;

const common = {
  group: "people",
  effect: "run",
  access: "partner",
  governed: false,
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

/** Says yes. */
export const approvalsApprove = operation({
  ...common,
  name: "approvals.approve",
  summary: "Approve what is asked for, exactly as it is",
  description:
    "For people: takes a key issued with may_approve, whose holder is not the one who asks. Where several " +
    "people are needed, it stays pending until the last of them. A loop that waits goes on; one that has ended " +
    "meanwhile is started anew.",
  rest: { approvals_approve: "POST /v1/approvals/{approval_id}/approve" },
  example: example("approved"),
  run: (input, context) => decide(approveUpdate, input.approval_id, context),
});

/** Says no. */
export const approvalsDeny = operation({
  ...common,
  name: "approvals.deny",
  summary: "Deny what is asked for",
  description: "Takes the same right as approving. One denial is enough; it can be reopened.",
  rest: { approvals_deny: "POST /v1/approvals/{approval_id}/deny" },
  example: example("denied"),
  run: (input, context) => decide(denyUpdate, input.approval_id, context),
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
  run: async ({ approval_id }, context) => {
    const { store, temporal } = context;
    const record = await existingApproval(store, approval_id);
    const voice = voiceOf(context, record);
    const client = await temporal();
    if (record.status === "approved") throw ended(record, "reopened");
    // One that is pending refuses by itself; if its workflow was ended from outside, it has as good as expired.
    const status = record.status === "denied" ? "denied" : "expired";
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof approval>(APPROVAL, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: workflowIdOf(approval_id),
      workflowIdConflictPolicy: "USE_EXISTING",
      args: [{ ...await askedAtFirst(context, record), reopens: { status, moves: record.moves } }],
      staticSummary: `Asks people again about ${record.subject}`,
    });
    const { receipt_id } = await told(client.withDeadline(
      Date.now() + DECIDED_WITHIN_MS,
      () =>
        client.workflow.executeUpdateWithStart(reopenUpdate, {
          args: [voice],
          startWorkflowOperation,
        }),
    ));
    return { ...shownApproval(await existingApproval(store, approval_id)), receipt_id };
  },
});

async function decide(
  update: typeof approveUpdate | typeof denyUpdate,
  approvalId: string,
  context: Context,
) {
  const { store, temporal } = context;
  const record = await existingApproval(store, approvalId);
  const voice = voiceOf(context, record);
  const client = await temporal();
  const handle = client.workflow.getHandle(workflowIdOf(approvalId));
  const { receipt_id } = await told(
    client.withDeadline(
      Date.now() + DECIDED_WITHIN_MS,
      () => handle.executeUpdate(update, { args: [voice] }),
    ),
    () => ended(record, "decided"),
  );
  return { ...shownApproval(await existingApproval(store, approvalId)), receipt_id };
}

/** Who speaks. The workflow refuses by the same rules; here they are told before anything is started. */
function voiceOf({ caller, door }: Context, { id }: ApprovalRecord): Voice {
  if (door !== "rest") {
    throw new Problem("Forbidden", "People decide about approvals, over REST alone");
  }
  if (!caller.mayApprove) {
    throw new Problem(
      "Forbidden",
      `This key may not decide about ${id}; that takes one issued with may_approve`,
    );
  }
  return { key_id: caller.keyId!, principal: caller.principal, may_approve: caller.mayApprove };
}

function ended({ id, status, moves }: ApprovalRecord, what: "decided" | "reopened"): Problem {
  if (status === "pending" && what === "decided" && moves > 0) {
    return new Problem("Conflict", `Approval ${id} was ended from outside; reopen it, or ask anew`);
  }
  if (moves === 0) return new Problem("Conflict", `Approval ${id} never began; ask anew`);
  const which = what === "decided" ? "a pending one" : "one that was denied or has expired";
  return new Problem("Conflict", `Approval ${id} is ${status}, and only ${which} can be ${what}`);
}

/** As it was asked at first. */
async function askedAtFirst({ store }: Context, record: ApprovalRecord): Promise<ApprovalRequest> {
  const act = await getAct(store.knex, record.id);
  return {
    ...requestOf(record, act !== undefined),
    ...(record.askingRun ? { asking_run: record.askingRun as unknown as AskingRun } : {}),
  };
}

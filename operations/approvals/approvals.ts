import { createHash } from "node:crypto";
import { z } from "zod";
import { WORKFLOW } from "../../domain/mod.ts";
import { type LostCall, Problem, type Recovery, redactSecrets } from "../../contract/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import {
  getApproval,
  getHeldCall,
  getTicket,
  type HeldCall,
  listApprovalMoves,
  listApprovals,
} from "../../store/mod.ts";
import {
  approvalFor,
  ApprovalId,
  ApprovalShape,
  ApprovalStatusShape,
  exampleApproval,
  shownApproval,
} from "./_shapes.ts";
import { Limit, Timestamp } from "../_shapes.ts";
import {
  approvalWorkflowId,
  concerns,
  existingApproval,
  openApproval,
} from "../../calls/approvals/mod.ts";
import { operation, type Platform } from "../../calls/mod.ts";
import { idOfCall, notNoted, recoverBegun, recoverRun } from "../../calls/recover/mod.ts";

const group = "people";
const approvalOf = (decisionId: string | undefined) => `APR-${idOfCall(decisionId, 12)}`;
/** Most bytes of an action: people have to read it. */
const MOST_ACTION = 64 * 1024;

const Act = z.object({
  state: z.enum(["waiting", "intended", "begun", "done", "failed", "refused", "unknown"])
    .describe("unknown: it was begun, and nobody can prove what became of it"),
  tool: z.string(),
  workflow_id: z.string().describe("Of its run, once it is approved"),
  decision_id: z.string(),
  receipt_id: z.string().nullable().describe("Of how it ended"),
  output: z.unknown().describe("What it gave; null: nothing yet, or not for this key"),
  error: z.object({ name: z.string(), message: z.string() }).nullable(),
  ended_at: Timestamp.nullable(),
});

/** Lists what people are asked. */
export const approvalsList = operation({
  name: "approvals.list",
  group,
  summary: "List approvals, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    status: ApprovalStatusShape.optional().describe("Only those that stand so"),
    limit: Limit,
  }),
  output: z.object({ approvals: z.array(ApprovalShape) }),
  rest: { approvals_list: "GET /v1/approvals" },
  example: { input: { status: "pending" }, output: { approvals: [exampleApproval] } },
  run: async ({ status, limit }, { store, caller }) => ({
    approvals: (await listApprovals(store.asPlatform(), { status, limit })).map((record) =>
      approvalFor(caller, record)
    ),
  }),
});

/** Lets a program ask for an approval of an action of its own. */
export const approvalsCreate = operation({
  name: "approvals.create",
  group,
  summary: "Ask people to approve an action of yours, exactly as it is",
  description:
    "The approval is for the SHA-256 of the action's canonical JSON: before you act, compare it with that " +
    "of what you are about to do, and ask anew where it differs. Poll `info` for the decision. Description, action and " +
    "names stay private; the ledger gets ids and hashes.",
  effect: "run",
  startsWorkflow: WORKFLOW.approval,
  access: "key",
  sealsItself: true,
  input: z.object({
    description: z.string().trim().max(4000).default("").describe("What it is for, for people"),
    action: z.record(z.string(), z.unknown()).describe("What you are about to do, in full"),
    ticket_id: z.string().regex(/^INC-[0-9a-f]{12}$/, "Expected INC- and 12 hex characters")
      .optional().describe("Ticket whose timeline is to tell of it"),
    needed: z.number().int().min(1).max(10).default(1).describe(
      "How many different people must approve",
    ),
    expires_in_seconds: z.number().int().min(1).max(31_536_000).optional()
      .describe("Seconds until it expires; the platform's setting by default"),
    escalate_after_seconds: z.number().int().min(0).max(31_536_000).optional()
      .describe("Seconds without a decision until people are told again; 0: they are not"),
  }),
  output: ApprovalShape.extend({ run_id: z.string() }),
  rest: { approvals_create: "POST /v1/approvals" },
  errors: ["NotFound", "TooLarge", "Unavailable"],
  example: {
    input: { description: exampleApproval.description, action: exampleApproval.action },
    output: { ...exampleApproval, run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10" },
  },
  recover: traceApproval,
  run: async (input, { store, caller, temporal, config, decisionId }) => {
    const { ticket_id, action } = input;
    if (ticket_id && !await getTicket(store.asPlatform(), ticket_id)) {
      throw new Problem("NotFound", `There is no ticket ${ticket_id}`);
    }
    const canonical = canonicalize(action);
    if (Buffer.byteLength(canonical) > MOST_ACTION) {
      throw new Problem(
        "TooLarge",
        `An action has at most ${MOST_ACTION} bytes, as people read it`,
      );
    }
    const { SEALOOP_APPROVAL_EXPIRES_SECONDS, SEALOOP_APPROVAL_ESCALATE_SECONDS } = config.settings;
    const id = approvalOf(decisionId);
    const action_sha256 = createHash("sha256").update(canonical).digest("hex");
    const terms = {
      needed: input.needed,
      expires_in_seconds: input.expires_in_seconds ?? SEALOOP_APPROVAL_EXPIRES_SECONDS,
      escalate_after_seconds: input.escalate_after_seconds ?? SEALOOP_APPROVAL_ESCALATE_SECONDS,
    };
    const run_id = await openApproval({ store, temporal }, {
      id,
      subject: ticket_id ?? `key:${caller.keyId}`,
      ticketId: ticket_id ?? null,
      description: input.description,
      action,
      actionSha256: action_sha256,
      requestedBy: caller.principal,
      requestedByKey: caller.keyId,
      needed: terms.needed,
      expiresInSeconds: terms.expires_in_seconds,
      escalateAfterSeconds: terms.escalate_after_seconds,
      askingRun: null,
    });
    const expiresAt = new Date(Date.now() + terms.expires_in_seconds * 1000).toISOString();
    const record = (await getApproval(store.asPlatform(), id))!;
    const shown = { ...shownApproval(record), expires_at: record.expiresAt ?? expiresAt };
    return { ...shown, run_id };
  },
});

/** One that was kept and that nobody waits for is forgotten after some minutes; then it was not asked for. */
async function traceApproval(call: LostCall, platform: Platform): Promise<Recovery> {
  const record = await getApproval(platform.store.asPlatform(), approvalOf(call.decisionId));
  if (!record) return notNoted(call);
  const workflowId = approvalWorkflowId(record.id);
  const found = await recoverRun(platform, workflowId, call, recoverBegun);
  if (found.state === "not_done") {
    throw new Problem("Unavailable", `Nobody waits for ${record.id} yet`);
  }
  if (found.state !== "done") return found;
  const output = { ...shownApproval(record), run_id: found.ids.run_id };
  return { state: "done", ids: { approval_id: record.id }, output };
}

/** Tells all about one. */
export const approvalsInfo = operation({
  name: "approvals.info",
  group,
  summary: "Read an approval with all its moves and their receipts",
  effect: "read",
  access: "key",
  input: z.object({ approval_id: ApprovalId }),
  output: ApprovalShape.extend({
    moves: z.array(z.object({
      at: Timestamp,
      move: z.enum(["requested", "approved", "denied", "reopened", "expired", "escalated"]),
      status: ApprovalStatusShape.describe("That it led to"),
      key_id: z.string().nullable().describe("Null: time did it"),
      principal: z.string().nullable(),
      not_counted: z.array(z.string()).describe(
        "Keys that had approved, and were revoked or had expired when this move was made",
      ),
      receipt_id: z.string(),
    })),
    act: Act.nullable().describe("The call that it lets run; null: it is about something else"),
  }),
  rest: { approvals_info: "GET /v1/approvals/{approval_id}/info" },
  errors: ["NotFound"],
  example: {
    input: { approval_id: exampleApproval.approval_id },
    output: {
      ...exampleApproval,
      moves: [{
        at: exampleApproval.asked_at,
        move: "requested",
        status: "pending",
        key_id: null,
        principal: null,
        not_counted: [],
        receipt_id: "9f2c4b7a01d3e856",
      }],
      act: null,
    },
  },
  run: async ({ approval_id }, { store, caller }) => {
    const record = await existingApproval({ store }, approval_id);
    const moves = await listApprovalMoves(store.asPlatform(), approval_id);
    const act = await getHeldCall(store.asPlatform(), approval_id);
    return {
      ...approvalFor(caller, record),
      moves,
      act: act ? shownAct(act, concerns(caller, record)) : null,
    };
  },
});

/** What it gave is for those whom the approval concerns. */
function shownAct(act: HeldCall, mayRead: boolean): z.output<typeof Act> {
  return {
    state: act.state,
    tool: act.tool,
    workflow_id: `act-${act.approvalId}`,
    decision_id: act.decisionId,
    receipt_id: act.receiptId,
    output: mayRead && act.output !== null ? redactSecrets(JSON.parse(act.output)) : null,
    error: mayRead ? act.error : null,
    ended_at: act.endedAt?.toISOString() ?? null,
  };
}

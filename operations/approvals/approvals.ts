import { z } from "zod";
import { existingApproval } from "../../calls/approvals/mod.ts";
import { operation } from "../../calls/mod.ts";
import { escapeInvisible, redactSecrets } from "../../contract/mod.ts";
import {
  findOffered,
  getHeldCall,
  type HeldCall,
  listApprovalMoves,
  listApprovals,
} from "../../store/approvals/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { Limit, Timestamp } from "../schemas/mod.ts";
import {
  Approval,
  ApprovalId,
  approvalOwner,
  ApprovalStatus,
  exampleApproval,
  toApproval,
} from "./_approval.ts";

const ApprovalMove = z.object({
  at: Timestamp,
  move: z.enum(["requested", "approved", "denied", "reopened", "expired", "outdated", "escalated"]),
  status: ApprovalStatus.describe("Status after the move"),
  key_id: z.string().nullable().describe("Key that made the move; null: a timeout did"),
  principal: z.string().nullable(),
  not_counted: z.array(z.string()).describe(
    "Keys whose earlier approvals no longer counted, as they were revoked or had expired",
  ),
  reason: z.string().nullable().describe("Reason that the person gave"),
  receipt_id: z.string(),
});
const HeldCallStatus = z.object({
  state: z.enum(["waiting", "intended", "begun", "done", "failed", "refused", "unknown"])
    .describe("unknown: the call was begun, and its outcome cannot be proven"),
  tool: z.string(),
  workflow_id: z.string().describe("Workflow of the call, once it is approved"),
  decision_id: z.string(),
  receipt_id: z.string().nullable().describe("Receipt of the call's end"),
  output: z.unknown().describe(
    "Output of the call; null: none yet",
  ),
  error: z.object({ name: z.string(), message: z.string() }).nullable(),
  ended_at: Timestamp.nullable(),
});

const ApprovalDetails = Approval.extend({
  instead_of: ApprovalId.nullable().describe(
    "Approval that its asker has denied, and offers this instead of",
  ),
  offered: ApprovalId.nullable().describe("Approval that whoever denied this offers instead"),
  moves: z.array(ApprovalMove),
  act: HeldCallStatus.nullable().describe(
    "The call that runs once it is approved; null: the approval is about something else",
  ),
});

/** An approval with all its moves. */
export type ApprovalDetails = z.output<typeof ApprovalDetails>;

/** Approvals, newest first. */
export const approvalList = operation({
  name: "approvals.list",
  group: "people",
  summary: "List approvals, newest first",
  description: "Those of your tenant; keys of tier admin get those of all tenants.",
  effect: "read",
  access: "key",
  input: z.object({
    status: ApprovalStatus.optional().describe("Only approvals with this status"),
    limit: Limit,
  }),
  output: z.object({ approvals: z.array(Approval) }),
  rest: { approvals_list: "GET /v1/approvals" },
  governance: { spansTenants: true },
  example: { input: { status: "pending" }, output: { approvals: [exampleApproval] } },
  run: async ({ status, limit }, { store, spansTenants }) => {
    const tenants = spansTenants ? await listTenants(store.db) : [store.tenant];
    const records = await Promise.all(
      tenants.map((tenant) => listApprovals(store.asTenant(tenant), { status, limit })),
    );
    const newest = records.flat().sort((a, b) => b.askedAt.localeCompare(a.askedAt)).slice(
      0,
      limit,
    );
    return { approvals: newest.map(toApproval) };
  },
});

/** One approval. */
export const approvalInfo = operation({
  name: "approvals.info",
  group: "people",
  summary: "Get an approval with all its moves and their receipts",
  effect: "read",
  access: "key",
  input: z.object({ approval_id: ApprovalId }),
  output: ApprovalDetails,
  rest: { approvals_info: "GET /v1/approvals/{approval_id}/info" },
  presentation: { errors: ["NotFound"] },
  governance: { ownerOf: approvalOwner },
  example: {
    input: { approval_id: exampleApproval.approval_id },
    output: {
      ...exampleApproval,
      instead_of: null,
      offered: null,
      moves: [{
        at: exampleApproval.asked_at,
        move: "requested",
        status: "pending",
        key_id: null,
        principal: null,
        not_counted: [],
        reason: null,
        receipt_id: "9f2c4b7a01d3e856",
      }],
      act: null,
    },
  },
  run: async ({ approval_id }, { store }) => {
    const db = store.db;
    const record = await existingApproval({ store }, approval_id);
    const moves = await listApprovalMoves(db, approval_id);
    const call = await getHeldCall(db, approval_id);
    return {
      ...toApproval(record),
      instead_of: record.insteadOf ?? null,
      offered: (await findOffered(db, approval_id))?.id ?? null,
      moves: moves.map((move) => ({ ...move, reason: escapeInvisible(move.reason) })),
      act: call ? toHeldCallStatus(call) : null,
    };
  },
});

/** Converts a held call. */
function toHeldCallStatus(call: HeldCall): z.output<typeof HeldCallStatus> {
  return {
    state: call.state,
    tool: call.tool,
    workflow_id: `act-${call.approvalId}`,
    decision_id: call.decisionId,
    receipt_id: call.receiptId,
    output: call.output !== null ? redactSecrets(JSON.parse(call.output)) : null,
    error: call.error,
    ended_at: call.endedAt?.toISOString() ?? null,
  };
}

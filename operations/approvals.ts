import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { Problem } from "../contract/mod.ts";
import { canonicalize } from "../ledger/mod.ts";
import {
  approvalMoves,
  dropApproval,
  getApproval,
  getTicket,
  listApprovals,
  putApproval,
  type Store,
} from "../store/mod.ts";
import { APPROVAL, type ApprovalRequest, TASK_QUEUE } from "../workflows/mod.ts";
import {
  ApprovalId,
  ApprovalShape,
  ApprovalStatusShape,
  exampleApproval,
  shownApproval,
  workflowIdOf,
} from "./_approval_shapes.ts";
import { told } from "./_temporal.ts";
import { operation } from "./platform.ts";
import { Limit, Timestamp } from "./_shapes.ts";

const group = "people";
/** Most bytes of an action: people have to read it. */
const MOST_ACTION = 64 * 1024;

/** An approval by id. @throws {Problem} `NotFound` */
export async function existingApproval(store: Store, id: string) {
  const record = await getApproval(store.knex, id);
  if (record) return record;
  throw new Problem("NotFound", `There is no approval ${id}`);
}

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
  run: async ({ status, limit }, { store }) => ({
    approvals: (await listApprovals(store.knex, { status, limit })).map(shownApproval),
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
  run: async (input, { store, caller, temporal, config }) => {
    const { ticket_id, action } = input;
    if (ticket_id && !await getTicket(store.knex, ticket_id)) {
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
    const id = `APR-${randomBytes(6).toString("hex")}`;
    const action_sha256 = createHash("sha256").update(canonical).digest("hex");
    const terms = {
      needed: input.needed,
      expires_in_seconds: input.expires_in_seconds ?? SEALOOP_APPROVAL_EXPIRES_SECONDS,
      escalate_after_seconds: input.escalate_after_seconds ?? SEALOOP_APPROVAL_ESCALATE_SECONDS,
    };
    const subject = ticket_id ?? `key:${caller.keyId}`;
    const client = await temporal();
    await putApproval(store.knex, {
      id,
      subject,
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
    const about = { approval_id: id, subject, action_sha256, requested_by: caller.principal };
    const request: ApprovalRequest = { ...about, ...terms, ...(ticket_id ? { ticket_id } : {}) };
    const start = client.workflow.start(APPROVAL, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: workflowIdOf(id),
      args: [request],
      staticSummary: `Asks people about ${subject}`,
    });
    const handle = await told(start).catch(async (error) => {
      await dropApproval(store.knex, id);
      throw error;
    });
    const expiresAt = new Date(Date.now() + terms.expires_in_seconds * 1000).toISOString();
    const record = (await getApproval(store.knex, id))!;
    const shown = { ...shownApproval(record), expires_at: record.expiresAt ?? expiresAt };
    return { ...shown, run_id: handle.firstExecutionRunId };
  },
});

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
      receipt_id: z.string(),
    })),
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
        receipt_id: "9f2c4b7a01d3e856",
      }],
    },
  },
  run: async ({ approval_id }, { store }) => ({
    ...shownApproval(await existingApproval(store, approval_id)),
    moves: await approvalMoves(store.knex, approval_id),
  }),
});

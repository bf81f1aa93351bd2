import { z } from "zod";
import { existingApproval } from "../../calls/approvals/mod.ts";
import { operation, type SubjectCall } from "../../calls/mod.ts";
import { escapeInvisible, redactSecrets } from "../../contract/mod.ts";
import { type ApprovalRecord, getHeldCall, listEndedCalls } from "../../store/approvals/mod.ts";
import { getRepairHistory, getTicket } from "../../store/incidents/mod.ts";
import type { Db } from "../../store/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { Alternative, describeAlternatives, isRepair, undoText } from "./_alternatives.ts";
import { ApprovalId, approvalOwner, exampleApproval } from "./_approval.ts";
import { askingCall } from "./offer.ts";

/** Earlier acts that are named, and those that are counted. */
const MAX_NAMED = 5;
const MAX_COUNTED = 100;

const Earlier = z.object({
  at: Timestamp,
  id: z.string().describe("The ticket of a repair, or the approval of a call"),
  state: z.string(),
  helped: z.boolean().nullable().describe("Healthy after a repair; null: it was not looked at"),
});

const ApprovalContext = z.object({
  undo: z.array(z.object({ does: z.string(), undo: z.string() })).describe(
    "What undoes each step of a repair; empty: the platform undoes nothing of it",
  ),
  before: z.object({
    runs: z.number().int().describe("How often it was done before, at most 100"),
    succeeded: z.number().int().describe(
      "How often it helped; of a call, how often it ended without an error",
    ),
    newest: z.array(Earlier),
  }).nullable().describe(
    "How the runbook did for the same service, or the same tool; null: the platform does neither",
  ),
  outcome: z.object({
    state: z.string().describe(
      "done, failed, refused, unknown, …; of a repair, the incident's outcome",
    ),
    error: z.string().nullable(),
    receipt_id: z.string().nullable(),
    ticket_id: z.string().nullable(),
    resolution: z.string().nullable(),
  }).nullable().describe("What came of it; null: nothing yet, or the platform does not do it"),
  alternatives: z.array(Alternative).describe(
    "Runbooks that can be offered instead while people decide; empty: it is about no repair",
  ),
  arguments: z.record(z.string(), z.unknown()).nullable().describe(
    "Arguments of the call that asks, or that ordered a device's command, instead of which others can be offered while " +
      "people decide; null: it is about neither",
  ),
});

/** Known facts around an approval. */
export const approvalContext = operation({
  name: "approvals.context",
  group: "console",
  extension: true,
  summary:
    "Tell what undoes an act, how it did before, what came of it, and what can be offered instead",
  effect: "read",
  access: "key",
  input: z.object({ approval_id: ApprovalId }),
  output: ApprovalContext,
  rest: { approvals_context: "GET /v1/approvals/{approval_id}/context" },
  presentation: { errors: ["NotFound"] },
  governance: { ownerOf: approvalOwner },
  example: {
    input: { approval_id: exampleApproval.approval_id },
    output: {
      undo: [{ does: "Restarts the service.", undo: "A restart has no opposite." }],
      before: {
        runs: 1,
        succeeded: 1,
        newest: [{
          at: "2026-06-01T12:00:00.000Z",
          id: "INC-4f1d22a90b7c",
          state: "done",
          helped: true,
        }],
      },
      outcome: null,
      alternatives: [],
      arguments: null,
    },
  },
  async run({ approval_id }, { store, subjects }) {
    const { db } = store;
    const approval = await existingApproval({ store }, approval_id);
    const repair = isRepair(approval);
    const isPending = approval.status === "pending";
    const [before, outcome, alternatives, asking] = await Promise.all([
      repair ? repairsBefore(db, approval) : callsBefore(db, approval),
      outcomeOf(db, approval),
      repair && isPending ? describeAlternatives(db, approval) : [],
      isPending ? askingCall({ store, subjects }, approval) : undefined,
    ]);
    const undo = repair ? undoOf(approval) : [];
    return { undo, before, outcome, alternatives, arguments: asking ? argumentsOf(asking) : null };
  },
});

/** Returns the arguments that an offer can change; secrets by their hash alone. */
function argumentsOf({ input, fixed }: SubjectCall): Record<string, unknown> {
  const changeable = Object.entries(input).filter(([name]) => !Object.hasOwn(fixed, name));
  return escapeInvisible(redactSecrets(Object.fromEntries(changeable)));
}

function undoOf({ action: { steps } }: ApprovalRecord) {
  return (Array.isArray(steps) ? steps : []).map(({ does, undo }) => ({
    does: String(does),
    undo: undoText(undo ?? {}),
  }));
}

async function repairsBefore(db: Db, { action: { service, runbook } }: ApprovalRecord) {
  const { remediations } = await getRepairHistory(db, {
    service: String(service),
    limit: MAX_COUNTED,
  });
  const same = remediations.filter((one) => one.runbook === runbook && one.state !== "intended");
  return {
    runs: same.length,
    succeeded: same.filter(({ verified }) => verified).length,
    newest: same.slice(0, MAX_NAMED).map(({ intended_at, ticket_id, state, verified }) => ({
      at: intended_at,
      id: ticket_id,
      state,
      helped: verified,
    })),
  };
}

async function callsBefore(db: Db, { id, subject }: ApprovalRecord) {
  if (!await getHeldCall(db, id)) return null;
  const calls = await listEndedCalls(db, subject.replace(/^tool:/, ""), id, MAX_COUNTED);
  return {
    runs: calls.length,
    succeeded: calls.filter(({ state }) => state === "done").length,
    newest: calls.slice(0, MAX_NAMED).map(({ approvalId, state, endedAt }) => ({
      at: endedAt!.toISOString(),
      id: approvalId,
      state,
      helped: state === "unknown" ? null : state === "done",
    })),
  };
}

async function outcomeOf(db: Db, approval: ApprovalRecord) {
  const held = await getHeldCall(db, approval.id);
  if (held) {
    if (!held.endedAt) return null;
    const { state, error, receiptId } = held;
    const nothing = { ticket_id: null, resolution: null };
    return { state, error: error?.message ?? null, receipt_id: receiptId, ...nothing };
  }
  if (approval.status === "pending" || !approval.ticketId || !isRepair(approval)) return null;
  const ticket = await getTicket(db, approval.ticketId);
  if (!ticket || ticket.status === "open" && !ticket.escalated) return null;
  const { status, escalated, receipt_id, ticket_id, resolution } = ticket;
  const state = status === "open" && escalated ? "left to people" : status;
  return { state, error: null, receipt_id, ticket_id, resolution };
}

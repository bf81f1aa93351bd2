import { z } from "zod";
import {
  approvalWorkflowId,
  bindAction,
  groundsOfRequest,
  openApproval,
} from "../../calls/approvals/mod.ts";
import { operation } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { WORKFLOW } from "../../contract/domain/mod.ts";
import { requireTicket } from "../incidents/tickets/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import { dropApproval, getApproval } from "../../store/approvals/mod.ts";
import { EXAMPLE_RUN_ID, TicketId } from "../schemas/mod.ts";
import { Approval, exampleApproval, toApproval } from "./_approval.ts";

/** People have to read the action. */
const MAX_ACTION_BYTES = 64 * 1024;
const MAX_SECONDS = 31_536_000;

/** Asks people to approve an action of the caller's own. */
export const createApproval = operation({
  name: "approvals.create",
  group: "people",
  summary: "Ask people to approve an action of your own, exactly as it is",
  description:
    "The approval is for the SHA-256 of the action's canonical JSON: before you act, compare it with the SHA-256 of what " +
    "you are about to do, and ask again where the two differ. Poll `info` for the decision. Description, action and names " +
    "stay private; the ledger gets ids and hashes.",
  effect: "run",
  access: "key",
  input: z.object({
    description: z.string().trim().max(4000).default("").describe("Purpose, for people"),
    action: z.record(z.string(), z.unknown()).describe("What you are about to do, in full"),
    ticket_id: TicketId.optional().describe("Ticket whose timeline reports the approval"),
    needed: z.number().int().min(1).max(10).default(1).describe(
      "How many different people must approve",
    ),
    expires_in_seconds: z.number().int().min(1).max(MAX_SECONDS).optional().describe(
      "Seconds until the approval expires; default: the platform's setting",
    ),
    escalate_after_seconds: z.number().int().min(0).max(MAX_SECONDS).optional().describe(
      "Seconds without a decision until people are reminded; 0: never; default: the platform's setting",
    ),
  }),
  output: Approval.extend({ run_id: z.string() }),
  rest: { approvals_create: "POST /v1/approvals" },
  presentation: { errors: ["NotFound", "TooLarge", "Unavailable"] },
  governance: {
    rule: "key-decides",
    async check({ ticket_id, action }, { store }) {
      if (ticket_id) await requireTicket(store, ticket_id);
      readableAction(action);
    },
  },
  durability: {
    startsWorkflow: WORKFLOW.approval,
    sealsItself: true,
    startsRun: "ids",
    dropUnstarted: ({ approval_id }, { store }) => dropApproval(store.db, approval_id!),
  },
  example: {
    input: { description: exampleApproval.description, action: exampleApproval.action },
    output: { ...exampleApproval, run_id: EXAMPLE_RUN_ID },
  },
  run: async (input, { store, caller, temporal, config: { settings }, decisionId }) => {
    const { ticket_id, action } = input;
    if (ticket_id) await requireTicket(store, ticket_id);
    const canonical = readableAction(action);
    const id = `APR-${idOfCall(decisionId, 12)}`;
    const workflow_id = approvalWorkflowId(id);
    const run_id = await openApproval({ store, temporal, decisionId }, {
      id,
      subject: ticket_id ?? `key:${caller.keyId}`,
      ticketId: ticket_id ?? null,
      description: input.description,
      ...bindAction(action, canonical),
      grounds: await groundsOfRequest(store.db, action, ticket_id ?? null),
      requestedBy: caller.principal,
      requestedByKey: caller.keyId,
      needed: input.needed,
      expiresInSeconds: input.expires_in_seconds ?? settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
      escalateAfterSeconds: input.escalate_after_seconds ??
        settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
      askingRun: null,
    }, async (trx) => {
      const asked = toApproval((await getApproval(trx, id))!);
      await noteCallEffects(trx, decisionId, { approval_id: id, workflow_id }, asked);
    }, false);
    const record = (await getApproval(store.db, id))!;
    return { ...toApproval(record), run_id };
  },
});

/** Returns the canonical JSON of an action. @throws {Problem} `TooLarge` */
function readableAction(action: Readonly<Record<string, unknown>>): string {
  const canonical = canonicalize(action);
  if (Buffer.byteLength(canonical) <= MAX_ACTION_BYTES) return canonical;
  throw new Problem(
    "TooLarge",
    `The action is too large: at most ${MAX_ACTION_BYTES} bytes, as people read it`,
  );
}

import { randomBytes } from "node:crypto";
import { z } from "zod";
import { type Context, followStartedRun, operation } from "../../calls/mod.ts";
import { startRun } from "../../calls/recover/mod.ts";
import { type CallContext, isSamePrincipal, Problem } from "../../contract/mod.ts";
import { type Finding, startAttributes, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { createReportedFinding } from "../../judgement/detection/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  acknowledgeTicket,
  addTicketEvent,
  getFinding,
  getTicketFault,
  handBackTicket,
  takeTicket,
  type Ticket as TicketRecord,
} from "../../store/incidents/mod.ts";
import {
  completedRun,
  exampleStartedRun,
  exampleTicket,
  StartedRun,
  Ticket,
  TicketId,
  WaitSeconds,
} from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";
import { requireTicket } from "./tickets/mod.ts";

/** The moves of people about an incident. */
type Move = "acknowledged" | "taken" | "handed_back";

const Reason = z.string().trim().min(1).max(1000).optional().describe(
  "Why, for people; it stays private, and the receipt has a commitment to it",
);

/** The parts that the three moves share. */
const common = {
  group: "on_call",
  extension: true,
  effect: "run",
  access: "partner",
  input: z.object({ ticket_id: TicketId, reason: Reason }),
  output: Ticket,
  presentation: {
    hints: { destructive: false, idempotent: true },
    untrusted: true,
    errors: ["NotFound", "Conflict"],
  },
  durability: { sealsItself: true, commits: true },
} as const;

const governance = {
  rule: "tickets-and-loops",
  async check({ ticket_id }: { readonly ticket_id: string }, { store }: Context) {
    requireOpen(await requireTicket(store, ticket_id));
  },
} as const;

const exampleOpen = {
  ...exampleTicket,
  status: "open",
  phase: "diagnosed",
  escalated: true,
  outcome: "escalated",
  resolution: null,
  resolved_at: null,
} as const;
const exampleAcknowledged = {
  ...exampleOpen,
  acknowledged_by: "ada",
  acknowledged_at: "2026-07-01T12:02:00.000Z",
} as const;

/** Says that somebody has seen an incident. */
export const acknowledgeIncident = operation({
  ...common,
  name: "tickets.acknowledge",
  summary: "Acknowledge an incident, so that nobody is told of it any more",
  description:
    "The ticket names the holder of the key, and when. Messages about the incident stay in the feed; they are no longer " +
    "sent over other channels, and do not escalate. The loop goes on. Again, it changes nothing.",
  governance,
  rest: { itsm_ticket_acknowledge: "POST /v1/itsm/tickets/{ticket_id}/acknowledge" },
  tool: { itsm_acknowledge_incident: FULL },
  example: { input: { ticket_id: exampleTicket.ticket_id }, output: exampleAcknowledged },
  run: (input, context) =>
    move(
      "acknowledged",
      input,
      context,
      async (trx, { acknowledged_by }) =>
        acknowledged_by === null &&
        await acknowledgeTicket(trx, input.ticket_id, context.caller.principal),
    ),
});

/** Gives an incident to the caller. */
export const takeIncident = operation({
  ...common,
  name: "tickets.take",
  summary: "Take an incident, so that the platform leaves it to you",
  description:
    "Until it is handed back, no step of a repair begins for it, and no sweep starts a loop for it; a loop that is under " +
    "way ends by leaving it to people. It is acknowledged too. Where somebody else has it, the answer is 409.",
  governance,
  rest: { itsm_ticket_take: "POST /v1/itsm/tickets/{ticket_id}/take" },
  tool: { itsm_take_incident: FULL },
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: {
      ...exampleAcknowledged,
      taken_by: "ada",
      taken_at: exampleAcknowledged.acknowledged_at,
    },
  },
  run: (input, context) =>
    move("taken", input, context, async (trx, { taken_by }) => {
      const { principal } = context.caller;
      if (taken_by !== null && isSamePrincipal(taken_by, principal)) return false;
      if (taken_by === null && await takeTicket(trx, input.ticket_id, principal)) return true;
      throw new Problem(
        "Conflict",
        `Cannot take ${input.ticket_id}: ${taken_by ?? "somebody else"} has it`,
      );
    }),
});

/** Gives an incident back to the platform. */
export const handBackIncident = operation({
  ...common,
  name: "tickets.hand_back",
  summary: "Hand an incident back to the platform",
  description:
    "For the one who has taken it, or over REST for a key that was issued with may_approve. The next sweep that finds the " +
    "fault starts the loop; to have it tried at once, ask for a retry. Again, it changes nothing.",
  governance,
  rest: { itsm_ticket_hand_back: "POST /v1/itsm/tickets/{ticket_id}/hand-back" },
  tool: { itsm_hand_back_incident: FULL },
  example: { input: { ticket_id: exampleTicket.ticket_id }, output: exampleAcknowledged },
  run: (input, context) =>
    move("handed_back", input, context, async (trx, { taken_by }) => {
      const { caller: { principal, mayApprove }, door } = context;
      if (taken_by === null) return false;
      if (!isSamePrincipal(taken_by, principal) && !(door === "rest" && mayApprove)) {
        throw new Problem(
          "Conflict",
          `Cannot hand back ${input.ticket_id}: ${taken_by} has it, who alone can do so, or a person who may approve`,
        );
      }
      return await handBackTicket(trx, input.ticket_id, taken_by);
    }),
});

/** Has the loop try again. */
export const retryIncident = operation({
  name: "tickets.retry",
  group: "on_call",
  extension: true,
  summary: "Have the loop work on an incident again",
  description:
    "After something was changed: the fault is looked at again, diagnosed and, where a runbook fits, repaired under the same " +
    "rules as before. What was tried on the ticket may be tried once more. Where a loop works on it, the call joins that. " +
    "One that somebody has taken must be handed back first.",
  effect: "run",
  access: "partner",
  input: z.object({ ticket_id: TicketId, wait_seconds: WaitSeconds }),
  output: StartedRun,
  rest: { itsm_ticket_retry: "POST /v1/itsm/tickets/{ticket_id}/retry" },
  tool: { itsm_retry_incident: FULL },
  presentation: { untrusted: true, errors: ["NotFound", "Conflict", "Unavailable"] },
  governance: {
    rule: "tickets-and-loops",
    // A stop of the loop, and a rule about it, apply to a loop that is asked for in this way as well.
    actsAs: () => ["itsm.loop"],
    async check({ ticket_id }, context) {
      const ticket = requireOpen(await requireTicket(context.store, ticket_id));
      await findingToRetry(context, ticket, `key:${context.caller.keyId}`);
    },
  },
  durability: {
    longRunning: { shared: true, outcome: completedRun },
    startsRun: "status",
  },
  example: { input: { ticket_id: exampleTicket.ticket_id }, output: exampleStartedRun },
  run: async ({ ticket_id, wait_seconds }, context) => {
    const ticket = requireOpen(await requireTicket(context.store, ticket_id));
    const finding = await findingToRetry(context, ticket, `key:${context.caller.keyId}`);
    const run = await startRun(context, WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
      typedSearchAttributes: startAttributes(finding),
      staticSummary: `Another try for ${ticket_id}`,
    });
    return await followStartedRun(context, WORKFLOW.itsmLoop, run, wait_seconds);
  },
});

/**
 * Makes a move about an open incident: changes the ticket, adds the event with who made it, and requests the receipt, all or
 * nothing. One that changes nothing adds nothing.
 */
async function move(
  kind: Move,
  { ticket_id, reason }: { readonly ticket_id: string; readonly reason?: string | undefined },
  { store, caller, commit }: Context & CallContext,
  change: (trx: Db, ticket: TicketRecord) => Promise<boolean>,
) {
  await requireTicket(store, ticket_id);
  return await commit(async (trx) => {
    const ticket = requireOpen(await requireTicket({ db: trx }, ticket_id));
    if (!await change(trx, ticket)) return ticket;
    const receiptId = randomBytes(8).toString("hex");
    await addTicketEvent(trx, ticket_id, {
      key: `${kind}-${receiptId}`,
      kind,
      by: caller.principal,
      data: { receipt_id: receiptId, by: caller.principal, ...(reason ? { reason } : {}) },
    });
    await requestSeal(trx, {
      id: receiptId,
      category: `ticket_${kind}`,
      actor: `key:${caller.keyId}`,
      subject: ticket_id,
      action: `tickets.${kind}`,
      outcome: kind,
      evidence: { by: caller.principal, ...(reason ? { reason } : {}) },
    });
    return await requireTicket({ db: trx }, ticket_id);
  });
}

function requireOpen(ticket: TicketRecord): TicketRecord {
  if (ticket.status === "open") return ticket;
  throw new Problem(
    "Conflict",
    `${ticket.ticket_id} is ${ticket.status}: a fault that comes back has a ticket of its own`,
  );
}

/**
 * Returns the fault of a ticket, to be looked at again now. A service that somebody reported is probed.
 *
 * @throws {Problem} `Conflict`: there is none, or a person has the ticket
 */
async function findingToRetry(
  { store, config }: Pick<Context, "store" | "config">,
  { ticket_id, taken_by, service, severity, title, description }: TicketRecord,
  requestedBy: string,
): Promise<Finding> {
  if (taken_by !== null) {
    throw new Problem(
      "Conflict",
      `Cannot try ${ticket_id} again: ${taken_by} has it; POST /v1/itsm/tickets/${ticket_id}/hand-back gives it back`,
    );
  }
  const fingerprint = await getTicketFault(store.db, ticket_id);
  if (fingerprint === null) {
    throw new Problem(
      "Conflict",
      `Cannot try ${ticket_id} again: people have opened it, and no fault was found or reported for it`,
    );
  }
  const now = { fingerprint, observed_at: new Date().toISOString(), requested_by: requestedBy };
  const found = await getFinding(store.db, fingerprint);
  if (found) {
    const { service, detector, kind, code } = found;
    return {
      service,
      detector: detector as NonNullable<Finding["detector"]>,
      check: kind as Finding["check"],
      code,
      severity,
      ...now,
    };
  }
  const probed = service === null
    ? undefined
    : await createReportedFinding({ store, config }, { service, requestedBy });
  if (probed?.fingerprint === fingerprint) return probed;
  return { service, check: "report", code: "reported", report: description || title, ...now };
}

import {
  describeFailure,
  joinTexts,
  LOOP_ACTOR,
  type MessageKind,
  say,
  type Severity,
  type Text,
} from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";
import { RETRIED_REASONS } from "./decision_basis.ts";
import { addMessage } from "../notices/mod.ts";

/** Kinds of ticket events that people are told of. */
const MESSAGE_OF: Readonly<Record<string, MessageKind>> = {
  opened: "incident.opened",
  escalated: "incident.escalated",
  resolved: "incident.closed",
  acknowledged: "incident.acknowledged",
  taken: "incident.taken",
  handed_back: "incident.handed_back",
};

/** Moves of people, as subjects say them. */
const MOVES: Readonly<Record<string, string>> = {
  acknowledged: "acknowledged",
  taken: "taken",
  handed_back: "handed back",
};

/** Why the loop leaves an incident to people, by the reason that its receipt has. */
const REASONS: Readonly<Record<string, Text>> = {
  no_runbook: say`No runbook fits what was found`,
  comes_back:
    say`It was healed again and again within the hour, and comes back: its cause is another one, and a problem ticket is open`,
  flapping: say`It goes up and down, and is up at the moment`,
  refused_by_guardrails: say`The guardrails refused the repair`,
  guardrails_away: say`The guardrails could not be asked`,
  approval_denied: say`A person denied the repair`,
  approval_expired: say`Nobody decided about the repair in time`,
  not_permitted: say`The repair was not permitted`,
  approval_of_another_action: say`The approval was for another action`,
  approval_ended: say`The question to people was ended from outside`,
  taken: say`A person has taken it`,
  stopped: say`Repairs have been stopped for too long`,
  unknown_effect: say`It is not known what a repair did`,
  place_away: say`The place that it is at has no worker, and nothing was done elsewhere`,
  not_healed: say`No repair helped`,
  not_done: say`No repair could be carried out`,
  not_proven: say`Those who saw the fault can't tell whether it is over`,
  outdated: say`What the repair is made from has changed again and again before it could be done`,
  cancelled: say`Its run was cancelled`,
};
/** The reason of an escalation that ends by itself. */
const GUARDRAILS_AWAY = "guardrails_away";
/** Most runbooks that are listed. */
const MAX_LISTED = 6;
/** Most characters of what a repair has printed, from its end. */
const MAX_PRINTED = 500;

/** The event that is told. */
interface Event {
  readonly kind: string;
  /** Principal who has caused it; absent: the platform. */
  readonly by?: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The parts of a ticket that are told. */
interface TicketParts {
  readonly title: string;
  readonly description: string;
  readonly severity: Severity;
  readonly service: string | null;
  readonly resolution: string | null;
  readonly receiptId: string | null;
}

/** Returns why an incident is left to people, by the reason of its escalation: a sentence without its end. */
export function describeEscalation(reason: string): Text {
  return REASONS[reason] ?? say`Its run could not go on: ${describeFailure(reason)}`;
}

/** Adds the message about a ticket's event, if people are told of it, with the ticket as it is now. */
export async function tellOfTicket(trx: Db, id: string, event: Event): Promise<void> {
  const kind = MESSAGE_OF[event.kind];
  if (kind === undefined) return;
  const ticket = await trx.first<TicketParts>(
    `SELECT title, description, severity, service, resolution, receipt_id AS "receiptId"
     FROM tickets WHERE id = $1`,
    [id],
  );
  if (!ticket) return;
  const { title, severity, service, receiptId } = ticket;
  await addMessage(trx, {
    kind,
    from: event.by ?? LOOP_ACTOR,
    subject: say`${id} was ${MOVES[event.kind] ?? event.kind} (${severity}): ${title}`,
    text: event.kind === "escalated"
      ? await explainEscalation(trx, id, event)
      : textOf(ticket, event),
    refs: { ticket_id: id, ...(receiptId ? { receipt_id: receiptId } : {}) },
    severity,
    service,
  });
}

function textOf({ title, description, resolution }: TicketParts, { kind, data }: Event): Text {
  if (kind in MOVES) return typeof data.reason === "string" ? data.reason : title;
  return kind === "resolved" ? resolution ?? "" : description || title;
}

/** Says why people have to act: what was seen, which runbooks were looked at, and how to have the platform try again. */
async function explainEscalation(trx: Db, id: string, { data }: Event): Promise<Text> {
  const row = await trx.first<{ data: Diagnosed }>(
    "SELECT data FROM ticket_events WHERE ticket_id = $1 AND kind = 'diagnosed' ORDER BY id DESC LIMIT 1",
    [id],
  );
  const { cause_says, passed_over = [] } = row?.data ?? {};
  const recurs = (await trx.first<{ data: Recurrence }>(
    "SELECT data FROM ticket_events WHERE ticket_id = $1 AND kind = 'recurs' ORDER BY id DESC LIMIT 1",
    [id],
  ))?.data;
  const printed = (await trx.first<{ printed: string | null }>(
    `SELECT data ->> 'printed' AS printed FROM ticket_events
     WHERE ticket_id = $1 AND kind IN ('remediated', 'remediation_failed') ORDER BY id DESC LIMIT 1`,
    [id],
  ))?.printed;
  const reason = String(data.reason ?? "");
  const why = reason === "" ? [] : [describeEscalation(reason)];
  const listed = joinTexts(
    passed_over.slice(0, MAX_LISTED)
      .map(({ runbook, why, code }) => say`\n- ${runbook}: ${why ?? code}`),
    "",
  );
  return joinTexts([
    ...why.map((text) => say`${text}.`),
    ...(recurs === undefined ? [] : [say`${recurs.message} The problem is ${recurs.problem_id}.`]),
    ...(cause_says === undefined ? [] : [cause_says]),
    ...(printed
      ? [say`The last repair printed at its end: “${printed.slice(-MAX_PRINTED).toWellFormed()}”.`]
      : []),
    describeNextStep(reason),
    ...(listed.length === 0
      ? []
      : [say`These runbooks were looked at, and are not used:${listed}`]),
  ], " ");
}

/** The event of a fault that comes again and again. */
interface Recurrence {
  readonly message: string;
  readonly problem_id: string;
}

/** Tells who acts next after an escalation for a reason; empty: none is on record. */
export function describeNextStep(reason: string): Text {
  if (reason === GUARDRAILS_AWAY) {
    return say`The platform asks them again by itself until they answer, and then goes on; a person may act before.`;
  }
  const request = say`POST /v1/itsm/loop with the service`;
  return RETRIED_REASONS.includes(reason)
    ? say`A person has to act now. Where runbooks, the service's entry or the policy are changed, the next sweep tries again; ${request} does so at once.`
    : say`A person has to act now. When something was changed, a loop tries again: ${request}.`;
}

/** The parts of a diagnosis for people. */
interface Diagnosed {
  readonly cause_says?: string;
  readonly passed_over?: readonly {
    readonly runbook: string;
    readonly code: string;
    readonly why?: string;
  }[];
}

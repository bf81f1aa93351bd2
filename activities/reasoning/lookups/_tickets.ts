import { PLATFORM_SOURCE } from "../../../contract/domain/mod.ts";
import {
  getTicket,
  listTicketEvents,
  listTickets,
  type Ticket,
} from "../../../store/incidents/mod.ts";
import { type LookupAnswer, type LookupTool, MAX_LISTED, NOTHING } from "./_lookup.ts";

const MAX_COUNTED = 200;

/** Looks up the newest tickets of a service. */
export const ticketsOfService: LookupTool = async ({ db }, service) =>
  answerOf(await listTickets(db, { service, limit: MAX_LISTED }), `on ${service}`);

/** Looks up the open tickets, most severe first. Where there is none, the newest ticket. */
export const openTickets: LookupTool = async (context) => {
  const { db } = context;
  const tickets = await listTickets(db, { status: "open", limit: MAX_COUNTED, bySeverity: true });
  if (tickets.length > 0) return answerOf(tickets, "open");
  const [newest] = await listTickets(db, { limit: 1 });
  const answer = newest ? await ticket(context, newest.ticket_id) : NOTHING;
  return {
    ...answer,
    says: [newest ? "No ticket is open. The newest one:" : "No ticket is open.", ...answer.says],
    sources: [PLATFORM_SOURCE, ...answer.says.flatMap(() => answer.sources)], // one a sentence
  };
};

/** Looks up a ticket and its events. */
export const ticket: LookupTool = async ({ db }, id) => {
  const record = await getTicket(db, id);
  if (!record) return NOTHING;
  const events = await listTicketEvents(db, id);
  const kinds = events.map(({ kind }) => kind.replaceAll("_", " "));
  const answer = answerOf([record], "");
  return {
    ...answer,
    says: [...answer.says, `What happened to ${id}: ${kinds.join(" → ") || "nothing yet"}.`],
    data: { ...answer.data, events: kinds.length },
  };
};

/** @param which completes "3 more tickets are" */
function answerOf(tickets: readonly Ticket[], which: string): LookupAnswer {
  const listed = tickets.slice(0, MAX_LISTED);
  const more = tickets.length - listed.length;
  return {
    says: [
      ...listed.map(sentenceOf),
      ...(more > 0 ? [`${more} more tickets are ${which}.`] : []),
    ],
    sources: listed.map(({ ticket_id, title }) => ({ id: ticket_id, kind: "ticket", title })),
    data: { tickets: tickets.length },
  };
}

function sentenceOf(
  { ticket_id, severity, status, phase, title, receipt_id, escalated }: Ticket,
): string {
  const state = [severity, status, phase, ...(escalated ? ["with people"] : [])].join(", ");
  const receipt = receipt_id ? `; sealed as ${receipt_id}` : "";
  return `${ticket_id} (${state}): ${title}${receipt}.`;
}

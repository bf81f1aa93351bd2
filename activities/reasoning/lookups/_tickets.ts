import { joinTexts, PLATFORM_SOURCE, say, type Text } from "../../../contract/domain/mod.ts";
import {
  getTicket,
  listTicketEvents,
  listTickets,
  type Ticket,
  type TimelineEvent,
} from "../../../store/incidents/mod.ts";
import { atLeast, type LookupAnswer, type LookupTool, MAX_LISTED, NOTHING } from "./_lookup.ts";

const MAX_COUNTED = 200;

/** Looks up how many tickets a service has, and the newest. */
export const ticketsOfService: LookupTool = async ({ db }, service) => {
  const tickets = await listTickets(db, { service, limit: MAX_COUNTED });
  return tickets.length === 0 ? NOTHING : withCount(tickets, `Tickets on ${service}`);
};

/** Looks up the open tickets, most severe first. Where there is none, the newest ticket. */
export const openTickets: LookupTool = async (context) => {
  const { db } = context;
  const tickets = await listTickets(db, { status: "open", limit: MAX_COUNTED, bySeverity: true });
  if (tickets.length > 0) return withCount(tickets, "Open tickets");
  const [newest] = await listTickets(db, { limit: 1 });
  const answer = newest ? await ticket(context, newest.ticket_id) : NOTHING;
  return {
    ...answer,
    says: [
      newest ? say`No ticket is open. The newest one:` : say`No ticket is open.`,
      ...answer.says,
    ],
    sources: [PLATFORM_SOURCE, ...answer.says.flatMap(() => answer.sources)], // one a sentence
  };
};

/** Looks up a ticket and its events. */
export const ticket: LookupTool = async ({ db }, id) => {
  const record = await getTicket(db, id);
  if (!record) return NOTHING;
  const events = await listTicketEvents(db, id);
  const kinds = events.map(({ kind }) => kind.replaceAll("_", " "));
  const answer = answerOf([record]);
  return {
    ...answer,
    says: [
      ...answer.says,
      ...describeCause(id, events),
      say`What happened to ${id}: ${kinds.join(" → ") || say`nothing yet`}.`,
    ],
    data: { ...answer.data, events: kinds.length },
  };
};

/** @param what begins the sentence with their number */
function withCount(tickets: readonly Ticket[], what: string): LookupAnswer {
  const open = tickets.filter(({ status }) => status === "open").length;
  const states = open === tickets.length ? "" : say`, ${open} of them open`;
  const { says, sources, data } = answerOf(tickets);
  return {
    says: [say`${what}: ${atLeast(tickets.length, MAX_COUNTED)}${states}.`, ...says],
    sources: [PLATFORM_SOURCE, ...sources], // one a sentence
    data,
  };
}

function answerOf(tickets: readonly Ticket[]): LookupAnswer {
  const listed = tickets.slice(0, MAX_LISTED);
  return {
    says: listed.map(sentenceOf),
    sources: listed.map(({ ticket_id, title }) => ({ id: ticket_id, kind: "ticket", title })),
    data: { tickets: tickets.length },
  };
}

/** Tells the cause by the first diagnosis that names one; a symptom is none. */
function describeCause(id: string, events: readonly TimelineEvent[]): Text[] {
  const all = events.filter(({ kind }) => kind === "diagnosed").map(({ data }) => data);
  const main = all.find(({ cause }) => typeof cause === "string") ?? all.at(-1);
  if (!main) return [];
  const symptom = say`its symptom is ${String(main.symptom).replaceAll("_", " ")}`;
  if (typeof main.cause !== "string") return [say`The cause of ${id} is not known; ${symptom}.`];
  const named = main.cause.replaceAll("_", " ");
  return [say`The diagnosis of ${id} names the cause ${named}; ${symptom}.`];
}

function sentenceOf(
  { ticket_id, severity, status, phase, title, receipt_id, escalated }: Ticket,
): Text {
  const state = joinTexts(
    [severity, status, phase, ...(escalated ? [say`with people`] : [])],
    ", ",
  );
  const receipt = receipt_id ? say`; its receipt is ${receipt_id}` : "";
  return say`${ticket_id} (${state}): ${title}${receipt}.`;
}

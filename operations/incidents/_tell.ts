/** Sentences for agents about incidents. */
import type { z } from "zod";
import { tellTicket, type Ticket } from "../schemas/mod.ts";

type TicketFields = z.output<typeof Ticket>;

/** Tells a list of tickets. @param which what they are: "open incidents" */
export function tellTickets(tickets: readonly TicketFields[], which: string): string[] {
  if (tickets.length === 0) return [`There are no ${which}.`];
  return [`${tickets.length} ${which}:`, ...tickets.map((ticket) => `- ${tellTicket(ticket)}`)];
}

/** Tells the events of a ticket. */
export function tellEvents(
  events: readonly { readonly at: string; readonly kind: string }[],
): string[] {
  return events.map(({ at, kind }) => `${at} ${kind.replaceAll("_", " ")}`);
}

/** Tells one ticket with what was seen. */
export function tellTicketWithReceipt(
  ticket: TicketFields & {
    readonly receipt: Readonly<Record<string, unknown>> | null;
    readonly observations: readonly { readonly number: number; readonly says: string }[];
  },
): string[] {
  return [
    tellTicket(ticket),
    ...(ticket.description ? [`It was reported: ${ticket.description}`] : []),
    ...ticket.observations.map(({ number, says }) => `Seen ${number}: ${says}`),
    ticket.receipt
      ? `Its end is sealed in receipt ${ticket.receipt.id}.`
      : "No receipt of its end is sealed yet.",
  ];
}

/** Tells an incident: what happened, its cause, what was done and who decided, the proof; then all events. */
export function tellIncident(
  { cause, done, story, proof_url, dependants, ...ticket }: TicketFields & {
    readonly cause: string | null;
    readonly done: string;
    readonly story: readonly string[];
    readonly proof_url: string | null;
    readonly dependants: readonly string[] | null;
  },
): string[] {
  return [
    tellTicket(ticket),
    cause === null ? "No cause was named." : `Its cause: ${cause}`,
    ...done.split("\n").filter((line) => line.trim() !== ""),
    ...(dependants && dependants.length > 0
      ? [`What needs ${ticket.service}: ${dependants.join(", ")}.`]
      : []),
    ...(proof_url ? [`Anybody can check its receipt at ${proof_url}`] : []),
    ...story.map((says) => `- ${says}`),
  ];
}

/** Tells repairs. */
export function tellRepairs(
  repairs: readonly {
    readonly ticket_id: string;
    readonly service: string;
    readonly runbook: string | null;
    readonly state: string;
    readonly verified: boolean | null;
    readonly intended_at: string;
  }[],
): string[] {
  return repairs.map(({ ticket_id, service, runbook, state, verified, intended_at }) => {
    const after = verified === null
      ? "not probed afterwards"
      : `${verified ? "healthy" : "not healthy"} afterwards`;
    return `- ${intended_at} ${service} by ${runbook ?? "no runbook"}: ${
      state.replaceAll("_", " ")
    }, ${after} (${ticket_id})`;
  });
}

/** Tells times to resolution. */
export function tellTimes(
  { resolved, mean_seconds, median_seconds, p90_seconds }: {
    readonly resolved: number;
    readonly mean_seconds: number | null;
    readonly median_seconds: number | null;
    readonly p90_seconds: number | null;
  },
): string {
  if (median_seconds === null) return "No ticket was resolved in this time.";
  return `${resolved} tickets were resolved, half of them within ${median_seconds} s and nine in ten within ` +
    `${p90_seconds} s; the mean is ${mean_seconds} s.`;
}

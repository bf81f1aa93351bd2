import { FOUND, PHASE, queued, WEBHOOKS_QUEUED } from "./_webhook_queue.ts";
import type { Queryable } from "./connection.ts";
import { type Part, together } from "./together.ts";

/** How far a ticket has come, by the steps of the loop. */
export type Phase = "detected" | "ticketed" | "diagnosed" | "remediated" | "verified" | "sealed";

/** A ticket as callers see it. */
export interface Ticket {
  readonly ticket_id: string;
  readonly title: string;
  readonly description: string;
  readonly severity: "critical" | "high" | "medium" | "low";
  /** Null: not diagnosed. */
  readonly category: string | null;
  readonly status: "open" | "resolved";
  readonly phase: Phase;
  readonly escalated: boolean;
  readonly service: string | null;
  readonly workflow_id: string | null;
  readonly run_id: string | null;
  readonly outcome: string | null;
  readonly resolution: string | null;
  readonly receipt_id: string | null;
  /** That an open ticket waits for; null: none. */
  readonly approval_id: string | null;
  readonly opened_at: string;
  readonly resolved_at: string | null;
}

/** A ticket that is to be opened. */
export interface NewTicket {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly severity: Ticket["severity"];
  readonly category?: string | null;
  readonly phase: Phase;
  readonly service: string | null;
  readonly fingerprint: string | null;
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly requestedBy: string;
}

/** A move of a ticket, for its timeline. */
export interface TicketEvent {
  /** What makes it the same event when a step is repeated. */
  readonly key: string;
  readonly kind: string;
  readonly phase?: Phase;
  readonly data?: Readonly<Record<string, unknown>>;
  /** What was found to be the matter with a ticket that is open. A severity that is none of the four stays as it was. */
  readonly found?: { readonly category: string; readonly severity: string };
}

/** Opens a ticket, once. @returns false where it was there already */
export async function openTicket(on: Queryable, ticket: NewTicket): Promise<boolean> {
  const { id, title, description, severity, phase, service, fingerprint } = ticket;
  const rows = await on("tickets").insert({
    id,
    title,
    description,
    severity,
    category: ticket.category ?? null,
    phase,
    service,
    fingerprint,
    workflow_id: ticket.workflowId,
    run_id: ticket.runId,
    requested_by: ticket.requestedBy,
  }).onConflict("id").ignore().returning("id");
  return rows.length > 0;
}

/** Table of {@linkcode openedTicket} and {@linkcode resolvedTicket}: the ticket, where the part has done anything. */
export const TICKET = "ticket";

/**
 * Part of a statement that opens a ticket, once, unless one is open for the same fault.
 *
 * Its events are to be those `of` the table {@linkcode TICKET}.
 */
export function openedTicket(ticket: Omit<NewTicket, "category">): Part {
  const { id, title, description, severity, phase, service, fingerprint } = ticket;
  const { workflowId, runId, requestedBy } = ticket;
  return {
    tables: `${TICKET} AS (
       INSERT INTO tickets (id, title, description, severity, phase, service, fingerprint, workflow_id, run_id, requested_by)
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
       WHERE NOT EXISTS (SELECT FROM tickets WHERE fingerprint = ? AND status = 'open')
       ON CONFLICT (id) DO NOTHING RETURNING *
     )`,
    values: [
      ...[id, title, description, severity, phase, service, fingerprint],
      ...[workflowId, runId, requestedBy, fingerprint],
    ],
    columns: `(SELECT count(*)::int FROM ${TICKET}) AS tickets`,
  };
}

/** Part of a statement that ends a ticket which is open. Its events are to be those `of` {@linkcode TICKET}. */
export function resolvedTicket(
  id: string,
  { outcome, resolution, receiptId }: { outcome: string; resolution: string; receiptId: string },
): Part {
  return {
    tables: `${TICKET} AS (
       UPDATE tickets SET outcome = ?, resolution = ?, receipt_id = ?, status = 'resolved', phase = 'sealed',
         resolved_at = now()
       WHERE id = ? AND status = 'open' RETURNING *
     )`,
    values: [outcome, resolution, receiptId, id],
    columns: `(SELECT count(*)::int FROM ${TICKET}) AS tickets`,
  };
}

/**
 * Adds to a ticket's timeline, once, and moves its phase along; whoever is to be told of it by a webhook has it queued in
 * the same statement. What is there already stays; and a ticket that is sealed stays so, whatever a run still tells that
 * was under way, until the fault is detected anew.
 */
export async function addTicketEvent(
  on: Queryable,
  id: string,
  event: TicketEvent,
): Promise<boolean> {
  return addedEvents(await together(on, [ticketEvents(id, [event])])) > 0;
}

/** What events depend on, in a statement that does more than add them. */
export interface EventsOf {
  /** Table of an earlier part: where it has no rows, nothing is added. */
  readonly given?: string;
  /** Table of an earlier part that has the ticket as the statement leaves it; then that is what moves its phase. */
  readonly ticket?: string;
}

/** As {@linkcode addTicketEvent}, as a part of a statement that does more, and for several events in their order. */
export function ticketEvents(
  id: string,
  events: readonly TicketEvent[],
  { ticket, given = ticket }: EventsOf = {},
): Part {
  const [first, ...more] = events.map(({ key, kind, phase = null, data = {}, found }) => {
    const severity = found && KNOWN.has(found.severity) ? found.severity : null;
    return [key, kind, phase, JSON.stringify(data), found?.category ?? null, severity];
  });
  return {
    tables: `wanted (key, kind, phase, data, category, severity) AS (
       VALUES (?::text, ?::text, ?::text, ?::jsonb, ?::text, ?::text)
       ${more.map(() => ", (?, ?, ?, ?, ?, ?)").join("")}
     ), ${ADDED} AS (
       INSERT INTO ticket_events (ticket_id, key, kind, phase, data)
       SELECT ?, key, kind, phase, data FROM wanted ${
      given ? `WHERE EXISTS (SELECT FROM ${given})` : ""
    }
       ON CONFLICT (ticket_id, key) DO NOTHING RETURNING id, ticket_id, key, phase, kind, at
     ), ${ticket ? "" : MOVED} ${queued(ticket ?? "tickets")}`,
    values: [...first!, ...more.flat(), id],
    columns: `(SELECT count(*)::int FROM ${ADDED}) AS added,
      CASE WHEN EXISTS (SELECT FROM queued) THEN pg_notify('${WEBHOOKS_QUEUED}', '')::text END AS told`,
  };
}

/** Table of {@linkcode ticketEvents}: the events that are new. */
export const ADDED = "added";

/** How many events a statement with {@linkcode ticketEvents} has added. */
export const addedEvents = ({ added }: Readonly<Record<string, unknown>>): number => Number(added);

/** What happened to a ticket, by the event's key; undefined: it has not. */
export async function getTicketEvent(on: Queryable, id: string, key: string) {
  const row = await on("ticket_events").where({ ticket_id: id, key }).first();
  return row && { kind: row.kind as string, data: row.data as Record<string, unknown> };
}

const MOVED = `last AS (
       SELECT added.ticket_id, added.phase, wanted.category, wanted.severity
       FROM added JOIN wanted USING (key) ORDER BY added.id DESC LIMIT 1
     ), moved AS (
       UPDATE tickets SET phase = ${PHASE("last")}, category = ${FOUND("last", "category")},
         severity = ${FOUND("last", "severity")}
       FROM last WHERE tickets.id = last.ticket_id AND (last.phase IS NOT NULL OR last.category IS NOT NULL)
     ),`;

const KNOWN: ReadonlySet<string> = new Set(["critical", "high", "medium", "low"]);

/** Ends a ticket, or marks it for people. @returns false where it was not open any more */
export async function endTicket(
  on: Queryable,
  id: string,
  end: { resolved: boolean; outcome: string; resolution?: string; receiptId?: string },
): Promise<boolean> {
  const changed = await on("tickets").where({ id, status: "open" }).update({
    outcome: end.outcome,
    ...(end.resolution === undefined ? {} : { resolution: end.resolution }),
    ...(end.receiptId === undefined ? {} : { receipt_id: end.receiptId }),
    ...(end.resolved ? { status: "resolved", resolved_at: on.fn.now() } : { escalated: true }),
  });
  return changed > 0;
}

/** Names another receipt in a ticket. @returns false where it has another one meanwhile than it is to take the place of */
export async function replaceTicketReceipt(
  on: Queryable,
  id: string,
  receiptId: string,
  before: string | null,
): Promise<boolean> {
  return await on("tickets").where({ id, receipt_id: before }).update({ receipt_id: receiptId }) >
    0;
}

/** A ticket by id, or undefined. */
export async function getTicket(on: Queryable, id: string): Promise<Ticket | undefined> {
  const row = await withApproval(on).where({ id }).first();
  return row && fromRow(row);
}

/** Tickets, with the approval that each waits for while it is open. */
function withApproval(on: Queryable) {
  return on("tickets").select(
    "tickets.*",
    on.raw(`CASE WHEN tickets.status = 'open' THEN (
      SELECT approvals.id FROM approvals
      WHERE approvals.ticket_id = tickets.id AND approvals.status = 'pending'
      ORDER BY approvals.asked_at DESC LIMIT 1) END AS approval_id`),
  );
}

/** Which tickets to list. */
export interface TicketFilter {
  readonly status?: "open" | "resolved";
  readonly severity?: Ticket["severity"];
  readonly category?: string;
  readonly service?: string;
  readonly escalated?: boolean;
  /** Opened at or after. */
  readonly since?: Date;
  readonly limit: number;
  /** The most severe first, and else the newest. */
  readonly bySeverity?: boolean;
}

/** Tickets, newest first. */
export async function listTickets(on: Queryable, filter: TicketFilter): Promise<Ticket[]> {
  const { limit, bySeverity, since, ...equal } = filter;
  const wanted = Object.fromEntries(Object.entries(equal).filter(([, v]) => v !== undefined));
  const query = withApproval(on).where(wanted).limit(limit);
  if (since) query.where("opened_at", ">=", since);
  if (bySeverity) {
    query.orderByRaw("array_position(ARRAY['critical','high','medium','low'], severity)");
  }
  return (await query.orderBy("opened_at", "desc").orderBy("id")).map(fromRow);
}

/** A ticket's moves, oldest first. */
export async function listTicketEvents(on: Queryable, id: string) {
  const rows = await on("ticket_events").where({ ticket_id: id }).orderBy("id");
  return rows.map(({ at, kind, phase, data }) => ({ at: at.toISOString(), kind, phase, data }));
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function fromRow(row: any): Ticket {
  const { id, opened_at, resolved_at, requested_by: _, fingerprint: __, ...rest } = row;
  return {
    ticket_id: id,
    ...rest,
    opened_at: opened_at.toISOString(),
    resolved_at: resolved_at?.toISOString() ?? null,
  };
}

/** Open tickets about a service whose run was cancelled. @returns their ids */
export async function listCancelledTickets(on: Queryable, service: string): Promise<string[]> {
  return await on("tickets as t").where({ service, status: "open" }).whereExists(
    on("ticket_events as e").whereRaw("e.ticket_id = t.id").where({ kind: "escalated" })
      .whereRaw("e.data->>'reason' = 'cancelled'"),
  ).pluck("t.id");
}

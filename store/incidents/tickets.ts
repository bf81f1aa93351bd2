import { type Phase, SEVERITIES, type Severity } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** A ticket as callers see it. */
export interface Ticket {
  readonly ticket_id: string;
  readonly title: string;
  readonly description: string;
  readonly severity: Severity;
  /** Null: not diagnosed. */
  readonly category: string | null;
  readonly status: "open" | "resolved";
  readonly phase: Phase;
  /** Waits for people. */
  readonly escalated: boolean;
  readonly service: string | null;
  readonly workflow_id: string | null;
  readonly run_id: string | null;
  readonly outcome: string | null;
  readonly resolution: string | null;
  readonly receipt_id: string | null;
  /** The approval that an open ticket waits for; null: none. */
  readonly approval_id: string | null;
  /** Principal who has seen it, so that nobody else is told any more; null: nobody. */
  readonly acknowledged_by: string | null;
  readonly acknowledged_at: string | null;
  /** Principal whom the platform leaves it to; null: nobody. */
  readonly taken_by: string | null;
  readonly taken_at: string | null;
  /** Ticket of the problem that it is a case of; null: none. */
  readonly problem_id: string | null;
  /** When its service passed its check last before; null: not known. */
  readonly last_good_at: string | null;
  readonly opened_at: string;
  readonly resolved_at: string | null;
}

/** Selects tickets. Fields that are left out match everything. */
export interface TicketFilter {
  readonly status?: "open" | "resolved";
  readonly severity?: Severity;
  readonly category?: string;
  readonly service?: string;
  readonly escalated?: boolean;
  /** Opened at or after. */
  readonly since?: Date;
  readonly limit: number;
  /** The most severe first, then the newest. */
  readonly bySeverity?: boolean;
}

/** Selects a page of tickets. */
export interface TicketSearch extends Omit<TicketFilter, "bySeverity" | "limit"> {
  /** Opened before. */
  readonly until?: Date;
  /** Words that all occur in the title, the description, the service or the id; any case. */
  readonly words: readonly string[];
  /** Number of tickets that the page has at most. */
  readonly limit: number;
  /** Id of a ticket: only older ones, the newest of them first. */
  readonly olderThan?: string;
  /** Id of a ticket: only newer ones, the oldest of them first. */
  readonly newerThan?: string;
}

/** An event of a ticket's timeline. */
export interface TimelineEvent {
  /** ISO 8601. */
  readonly at: string;
  readonly kind: string;
  readonly phase: Phase | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Tickets, each with the approval that it waits for while it is open. */
const TICKETS = `
  SELECT t.*, CASE WHEN t.status = 'open' THEN (
    SELECT a.id FROM approvals a WHERE a.ticket_id = t.id AND a.status = 'pending'
    ORDER BY a.asked_at DESC LIMIT 1) END AS approval_id
  FROM tickets t`;

/** Returns a ticket by id, or undefined. */
export async function getTicket(db: Db, id: string): Promise<Ticket | undefined> {
  const row = await db.first(
    `${TICKETS} WHERE t.id = $1`,
    [id],
  );
  return row && toTicket(row);
}

/** Returns tickets, newest first unless the filter says otherwise. */
export async function listTickets(db: Db, filter: TicketFilter): Promise<Ticket[]> {
  const rows = await db.query(
    `${TICKETS}
     WHERE ($1::text IS NULL OR t.status = $1)
       AND ($2::text IS NULL OR t.severity = $2)
       AND ($3::text IS NULL OR t.category = $3)
       AND ($4::text IS NULL OR t.service = $4)
       AND ($5::boolean IS NULL OR t.escalated = $5)
       AND ($6::timestamptz IS NULL OR t.opened_at >= $6)
     ORDER BY CASE WHEN $7 THEN array_position($8::text[], t.severity) END DESC, t.opened_at DESC, t.id
     LIMIT $9`,
    [
      filter.status,
      filter.severity,
      filter.category,
      filter.service,
      filter.escalated,
      filter.since,
      filter.bySeverity ?? false,
      SEVERITIES,
      filter.limit,
    ],
  );
  return rows.map(toTicket);
}

/** Returns a page of tickets that match, from one of its ends. */
export async function searchTickets(db: Db, search: TicketSearch): Promise<Ticket[]> {
  const rows = await db.query(search.newerThan === undefined ? SEARCH : SEARCH_NEWER, [
    search.status,
    search.severity,
    search.category,
    search.service,
    search.escalated,
    search.since,
    search.until,
    search.words.map((word) => word.toLowerCase()),
    search.newerThan ?? search.olderThan,
    search.limit,
  ]);
  return rows.map(toTicket);
}

/** The words are looked for last, in the tickets that the rest has left, along the index by the time of opening. */
const MATCHES = `
  ${TICKETS}
  WHERE ($1::text IS NULL OR t.status = $1)
    AND ($2::text IS NULL OR t.severity = $2)
    AND ($3::text IS NULL OR t.category = $3)
    AND ($4::text IS NULL OR t.service = $4)
    AND ($5::boolean IS NULL OR t.escalated = $5)
    AND ($6::timestamptz IS NULL OR t.opened_at >= $6)
    AND ($7::timestamptz IS NULL OR t.opened_at < $7)
    AND NOT EXISTS (SELECT FROM unnest($8::text[]) word
      WHERE position(word IN lower(concat_ws(E'\\n', t.title, t.description, t.service, t.id))) = 0)`;
const SEARCH = `${MATCHES}
    AND ($9::text IS NULL OR (t.opened_at, t.id) < (SELECT opened_at, id FROM tickets WHERE id = $9))
  ORDER BY t.opened_at DESC, t.id DESC LIMIT $10`;
const SEARCH_NEWER = `${MATCHES}
    AND (t.opened_at, t.id) > (SELECT opened_at, id FROM tickets WHERE id = $9)
  ORDER BY t.opened_at, t.id LIMIT $10`;

/** Returns a ticket's events, oldest first. */
export async function listTicketEvents(db: Db, ticketId: string): Promise<TimelineEvent[]> {
  const rows = await db.query(
    "SELECT at, kind, phase, data FROM ticket_events WHERE ticket_id = $1 ORDER BY id",
    [ticketId],
  );
  return rows.map(({ at, kind, phase, data }) => ({ at: at.toISOString(), kind, phase, data }));
}

/** Returns a ticket's event by its key, or undefined. */
export async function getTicketEvent(
  db: Db,
  ticketId: string,
  key: string,
): Promise<Pick<TimelineEvent, "kind" | "data"> | undefined> {
  return await db.first(
    "SELECT kind, data FROM ticket_events WHERE ticket_id = $1 AND key = $2",
    [ticketId, key],
  );
}

/** Notice that a ticket has a new event. */
export interface TicketChange {
  /** Id of the event. Later events have higher ids, except those of transactions that ran at the same time. */
  readonly id: number;
  readonly ticketId: string;
}

/** Returns changes of tickets after one, oldest first. @param limit > 0 */
export async function listTicketChanges(
  db: Db,
  after: number,
  limit: number,
): Promise<TicketChange[]> {
  const rows = await db.query(
    "SELECT id, ticket_id FROM ticket_events WHERE id > $1 ORDER BY id LIMIT $2",
    [after, limit],
  );
  return rows.map(({ id, ticket_id }) => ({ id: Number(id), ticketId: ticket_id }));
}

/** Returns a number that no change of any tenant's tickets so far is above: ids are given in this order. */
export async function getNewestTicketChange(db: Db): Promise<number> {
  const row = await db.first("SELECT last_value AS id FROM ticket_events_id_seq");
  return Number(row!.id);
}

/** Returns the ids of open tickets of a service whose run was cancelled. */
export async function listCancelledTickets(db: Db, service: string): Promise<string[]> {
  const rows = await db.query(
    `SELECT id FROM tickets t WHERE service = $1 AND status = 'open'
       AND EXISTS (SELECT FROM ticket_events e
         WHERE e.ticket_id = t.id AND e.kind = 'escalated' AND e.data ->> 'reason' = 'cancelled')`,
    [service],
  );
  return rows.map(({ id }) => id);
}

function toTicket(row: Row): Ticket {
  return {
    ticket_id: row.id,
    title: row.title,
    description: row.description,
    severity: row.severity,
    category: row.category,
    status: row.status,
    phase: row.phase,
    escalated: row.escalated,
    service: row.service,
    workflow_id: row.workflow_id,
    run_id: row.run_id,
    outcome: row.outcome,
    resolution: row.resolution,
    receipt_id: row.receipt_id,
    approval_id: row.approval_id,
    acknowledged_by: row.acknowledged_by,
    acknowledged_at: row.acknowledged_at?.toISOString() ?? null,
    taken_by: row.taken_by,
    taken_at: row.taken_at?.toISOString() ?? null,
    problem_id: row.problem_id,
    last_good_at: row.last_good_at?.toISOString() ?? null,
    opened_at: row.opened_at.toISOString(),
    resolved_at: row.resolved_at?.toISOString() ?? null,
  };
}

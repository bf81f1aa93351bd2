import { type Phase, SEVERITIES, type Severity, type Text } from "../../contract/domain/mod.ts";
import { keepComposedTexts } from "../composed_texts.ts";
import type { Db } from "../connection.ts";
import { tellOfTicket } from "./_ticket_messages.ts";
import { queueDeliveries } from "../webhooks/mod.ts";

/** A ticket to open. */
export interface NewTicket {
  readonly id: string;
  readonly title: Text;
  readonly description: Text;
  readonly severity: Severity;
  readonly category?: string | null;
  readonly phase: Phase;
  readonly service: string | null;
  /** Fingerprint of the fault; null: people opened it. */
  readonly fingerprint: string | null;
  readonly workflowId: string | null;
  readonly runId: string | null;
  /** True: its service fails the check that its services entry has. When it passed that last is kept. */
  readonly failsCheck?: boolean;
  /** `key:<id>` or `schedule`. */
  readonly requestedBy: string;
}

/** An event to add to a ticket's timeline. */
export interface TicketEvent {
  /** Identifies the event within its ticket, so that a repeated step adds it once. */
  readonly key: string;
  readonly kind: string;
  /** Phase that the event moves the ticket to. */
  readonly phase?: Phase | undefined;
  readonly data?: Readonly<Record<string, unknown>>;
  /** Principal who has caused it, for the feed; absent: the platform. */
  readonly by?: string | undefined;
  /** Diagnosis for a ticket that is open. A severity that is not in `SEVERITIES` changes nothing. */
  readonly found?: { readonly category: string; readonly severity: string };
}

/**
 * Opens a ticket, unless the id is taken or a ticket is open for the same fault.
 *
 * @returns false if it was not opened
 */
export async function openTicket(db: Db, ticket: NewTicket): Promise<boolean> {
  const opened = await db.execute(
    `INSERT INTO tickets (id, title, description, severity, category, phase, service, fingerprint,
       workflow_id, run_id, requested_by, last_good_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
       CASE WHEN $12 THEN (SELECT good_at FROM services WHERE name = $7) END
     WHERE NOT EXISTS (SELECT FROM tickets WHERE fingerprint = $8 AND status = 'open')
     ON CONFLICT (tenant_id, id) DO NOTHING`,
    [
      ticket.id,
      String(ticket.title),
      String(ticket.description),
      ticket.severity,
      ticket.category,
      ticket.phase,
      ticket.service,
      ticket.fingerprint,
      ticket.workflowId,
      ticket.runId,
      ticket.requestedBy,
      ticket.failsCheck ?? false,
    ],
  );
  if (opened > 0) await keepComposedTexts(db, [ticket.title, ticket.description]);
  return opened > 0;
}

/** Resolves an open ticket. @returns false if it was not open */
export async function resolveTicket(
  db: Db,
  id: string,
  { outcome, resolution, receiptId }: {
    readonly outcome: string;
    readonly resolution: Text;
    readonly receiptId: string;
  },
): Promise<boolean> {
  const resolved = await db.execute(
    `UPDATE tickets SET status = 'resolved', phase = 'sealed', resolved_at = now(),
       outcome = $2, resolution = $3, receipt_id = $4
     WHERE id = $1 AND status = 'open'`,
    [id, outcome, String(resolution), receiptId],
  );
  if (resolved > 0) await keepComposedTexts(db, resolution);
  return resolved > 0;
}

/** Leaves an open ticket to people. @returns false if it was not open */
export async function escalateTicket(db: Db, id: string, receiptId: string): Promise<boolean> {
  const escalated = await db.execute(
    `UPDATE tickets SET escalated = true, outcome = 'escalated', receipt_id = $2
     WHERE id = $1 AND status = 'open'`,
    [id, receiptId],
  );
  return escalated > 0;
}

/** Replaces the receipt that a ticket names. @returns false if the ticket names another than `before` by now */
export async function replaceTicketReceipt(
  db: Db,
  id: string,
  receiptId: string,
  before: string | null,
): Promise<boolean> {
  const replaced = await db.execute(
    "UPDATE tickets SET receipt_id = $2 WHERE id = $1 AND receipt_id IS NOT DISTINCT FROM $3",
    [id, receiptId, before],
  );
  return replaced > 0;
}

/**
 * Adds an event to a ticket's timeline, once: moves the ticket's phase, stores a diagnosis, queues the webhook
 * deliveries, and tells people in the feed, all or nothing.
 *
 * A sealed ticket stays sealed until its fault is detected again, whatever a run that was under way still reports.
 *
 * @returns false if the ticket has an event with this key
 */
export async function addTicketEvent(
  db: Db,
  ticketId: string,
  event: TicketEvent,
): Promise<boolean> {
  return await addTicketEvents(db, ticketId, [event]) > 0;
}

/** Adds events in their order, like {@linkcode addTicketEvent}. @returns how many are new */
export async function addTicketEvents(
  db: Db,
  ticketId: string,
  events: readonly TicketEvent[],
): Promise<number> {
  return await db.transaction(async (trx) => {
    let added = 0;
    for (const event of events) if (await addEvent(trx, ticketId, event)) added++;
    return added;
  });
}

async function addEvent(trx: Db, ticketId: string, event: TicketEvent): Promise<boolean> {
  const { key, kind, phase, data = {}, found, by } = event;
  const row = await trx.first<{ id: string }>(
    `INSERT INTO ticket_events (ticket_id, key, kind, phase, data) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (tenant_id, ticket_id, key) DO NOTHING RETURNING id`,
    [ticketId, key, kind, phase, JSON.stringify(data)],
  );
  if (!row) return false;
  await keepComposedTexts(trx, data);
  if (phase) await movePhase(trx, ticketId, phase);
  if (found) await storeDiagnosis(trx, ticketId, found);
  await queueDeliveries(trx, row.id, kind);
  await tellOfTicket(trx, ticketId, { kind, data, by });
  return true;
}

async function movePhase(trx: Db, ticketId: string, phase: Phase): Promise<void> {
  await trx.execute(
    "UPDATE tickets SET phase = $2 WHERE id = $1 AND (phase <> 'sealed' OR $2 = 'detected')",
    [ticketId, phase],
  );
}

async function storeDiagnosis(
  trx: Db,
  ticketId: string,
  { category, severity }: { readonly category: string; readonly severity: string },
): Promise<void> {
  const known = (SEVERITIES as readonly string[]).includes(severity);
  await trx.execute(
    `UPDATE tickets SET category = $2, severity = coalesce($3, severity)
     WHERE id = $1 AND status = 'open'`,
    [ticketId, category, known ? severity : null],
  );
}

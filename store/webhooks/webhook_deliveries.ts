import type { Db } from "../connection.ts";
import type { WebhookEvent } from "./webhooks.ts";

/** Notification channel of the tenants that have new deliveries. */
export const WEBHOOKS_QUEUED = "sealoop_webhooks";

/** State of a delivery. */
export type DeliveryState = "queued" | "delivered" | "dead";

/** A message to one webhook about one event. */
export interface Delivery {
  /** The header `webhook-id`. */
  readonly id: string;
  readonly webhookId: string;
  readonly url: string;
  /** Null: the event is of an approval without a ticket. */
  readonly ticketId: string | null;
  /** Null: the event is of a ticket. */
  readonly approvalId: string | null;
  readonly type: WebhookEvent;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly endedAt: string | null;
}

/** A delivery with everything that sending it takes. */
export interface OutgoingDelivery {
  readonly state: DeliveryState;
  readonly url: string;
  /** Encrypted. */
  readonly secret: Buffer;
  readonly body: string;
  readonly webhookId: string;
  /** The webhook was removed, or has said that it is gone. */
  readonly disabled: boolean;
}

/** Kinds of ticket events with a webhook event of their own. */
const WEBHOOK_EVENT_OF: Readonly<Record<string, WebhookEvent>> = {
  opened: "ticket.opened",
  resolved: "ticket.resolved",
};

/** Prepared, as every event of every ticket runs it. */
const QUEUE = {
  name: "queue_deliveries",
  text: `INSERT INTO webhook_deliveries (id, webhook_id, ticket_id, type, body)
    SELECT 'msg_' || replace(gen_random_uuid()::text, '-', ''), w.id, t.id, $2::text,
      json_build_object(
        'type', $2::text,
        'timestamp', to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'data', json_build_object(
          'ticket_id', t.id, 'event', e.kind, 'title', t.title, 'status', t.status,
          'phase', t.phase, 'severity', t.severity, 'category', t.category,
          'escalated', t.escalated, 'service', t.service, 'outcome', t.outcome,
          'receipt_id', t.receipt_id, 'workflow_id', t.workflow_id,
          'opened_at', t.opened_at, 'resolved_at', t.resolved_at))::text
    FROM ticket_events e
    JOIN tickets t ON t.id = e.ticket_id
    JOIN webhooks w ON w.disabled_at IS NULL AND $2::text = ANY (w.events)
    WHERE e.id = $1`,
};

/**
 * Queues a delivery of a ticket's event to every webhook that wants it, with the ticket as it is now. Must run in the
 * transaction that adds the event, after all that the event changes.
 *
 * The ticket's description and resolution are left out: they are for those who may read the ticket. That a fault was
 * detected is not delivered: webhooks hear of a ticket when it is opened.
 */
export async function queueDeliveries(trx: Db, eventId: string, kind: string): Promise<void> {
  if (kind === "detected") return;
  const queued = await trx.execute(QUEUE, [eventId, WEBHOOK_EVENT_OF[kind] ?? "ticket.updated"]);
  if (queued > 0) await wakeRelay(trx);
}

/** An event of an approval. */
export interface ApprovalEvent {
  readonly approvalId: string;
  readonly ticketId: string | null;
  readonly type: Extract<WebhookEvent, `approval.${string}`>;
  /** Field `data` of the message. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Queues a delivery of an approval's event to every webhook that names it. Must run in the transaction of the move. */
export async function queueApprovalDeliveries(
  trx: Db,
  { approvalId, ticketId, type, data }: ApprovalEvent,
): Promise<void> {
  const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
  const queued = await trx.execute(
    `INSERT INTO webhook_deliveries (id, webhook_id, approval_id, ticket_id, type, body)
     SELECT 'msg_' || replace(gen_random_uuid()::text, '-', ''), w.id, $1, $2, $3::text, $4
     FROM webhooks w WHERE w.disabled_at IS NULL AND $3::text = ANY (w.events)`,
    [approvalId, ticketId, type, body],
  );
  if (queued > 0) await wakeRelay(trx);
}

async function wakeRelay(trx: Db): Promise<void> {
  await trx.execute("SELECT pg_notify($1, $2)", [WEBHOOKS_QUEUED, trx.tenant]);
}

/** Returns ids of deliveries whose workflow has not begun, oldest first. */
export async function listUnstartedDeliveries(db: Db, limit: number): Promise<string[]> {
  const rows = await db.query(
    "SELECT id FROM webhook_deliveries WHERE started_at IS NULL ORDER BY created_at LIMIT $1",
    [limit],
  );
  return rows.map(({ id }) => id);
}

/** Records that a delivery's workflow has begun. */
export async function markDeliveryStarted(db: Db, id: string): Promise<void> {
  await db.execute(
    "UPDATE webhook_deliveries SET started_at = now() WHERE id = $1 AND started_at IS NULL",
    [id],
  );
}

/** Returns a delivery with everything that sending it takes, or undefined. */
export async function getOutgoingDelivery(
  db: Db,
  id: string,
): Promise<OutgoingDelivery | undefined> {
  return await db.first(
    `SELECT d.state, w.url, w.secret, d.body, d.webhook_id AS "webhookId", w.disabled_at IS NOT NULL AS disabled
     FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.id = $1`,
    [id],
  );
}

/** Records how an attempt went. A delivery that has ended stays as it is. */
export async function recordDeliveryAttempt(
  db: Db,
  id: string,
  { number, state, status, error, retryInSeconds }: {
    /** From 1. */
    readonly number: number;
    readonly state: DeliveryState;
    readonly status: number | null;
    readonly error: string | null;
    readonly retryInSeconds: number | null;
  },
): Promise<void> {
  await db.execute(
    `UPDATE webhook_deliveries SET state = $2, attempts = $3, last_status = $4, last_error = $5,
       next_attempt_at = now() + $6::float8 * interval '1 second',
       ended_at = CASE WHEN $2 <> 'queued' THEN now() END
     WHERE id = $1 AND state = 'queued'`,
    [id, state, number, status, error, retryInSeconds],
  );
}

/** Deletes deliveries that ended more than this many days ago. @param days > 0 */
export async function pruneDeliveries(db: Db, days: number): Promise<void> {
  await db.execute(
    `DELETE FROM webhook_deliveries
     WHERE state <> 'queued' AND ended_at < now() - $1::float8 * interval '1 day'`,
    [days],
  );
}

/** Selects deliveries. Fields that are left out match everything. */
export interface DeliveryFilter {
  readonly state?: DeliveryState;
  readonly webhookId?: string;
}

/** Returns deliveries, newest first. */
export async function listDeliveries(
  db: Db,
  { state, webhookId, limit }: DeliveryFilter & { readonly limit: number },
): Promise<Delivery[]> {
  const rows = await db.query(
    `SELECT d.id, d.webhook_id, w.url, d.ticket_id, d.approval_id, d.type, d.state, d.attempts, d.last_status, d.last_error,
       d.created_at, d.next_attempt_at, d.ended_at
     FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
     WHERE ($1::text IS NULL OR d.state = $1)
       AND ($2::text IS NULL OR d.webhook_id = $2)
     ORDER BY d.created_at DESC, d.id LIMIT $3`,
    [state, webhookId, limit],
  );
  return rows.map((row) => ({
    id: row.id,
    webhookId: row.webhook_id,
    url: row.url,
    ticketId: row.ticket_id,
    approvalId: row.approval_id,
    type: row.type,
    state: row.state,
    attempts: row.attempts,
    lastStatus: row.last_status,
    lastError: row.last_error,
    createdAt: row.created_at.toISOString(),
    nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
  }));
}

import { randomBytes } from "node:crypto";
import type { Db } from "../connection.ts";

/** Events of tickets, which a webhook is told of unless it names others. */
export const TICKET_EVENTS = ["ticket.opened", "ticket.updated", "ticket.resolved"] as const;

/** Events that a webhook can be told of. */
export const WEBHOOK_EVENTS = [
  ...TICKET_EVENTS,
  "approval.requested",
  "approval.decided",
] as const;

/** An event that a webhook can be told of. */
export type WebhookEvent = typeof WEBHOOK_EVENTS[number];

/** An address that is told of tickets and approvals. */
export interface Webhook {
  /** `WH-` and 12 hex characters. */
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Encrypted. */
  readonly secret: Buffer;
  /** Key id. */
  readonly createdBy: string;
  readonly createdAt: string;
}

/**
 * Registers a webhook. If the tenant has one with the same URL, that gets the new events and secret. Must run in a
 * transaction.
 *
 * @returns its id
 */
export async function putWebhook(
  trx: Db,
  { url, events, secret, createdBy }: Omit<Webhook, "id" | "createdAt">,
): Promise<string> {
  const known = await trx.first(
    `UPDATE webhooks SET events = $2, secret = $3, created_by = $4
     WHERE url = $1 AND disabled_at IS NULL RETURNING id`,
    [url, events, secret, createdBy],
  );
  if (known) return known.id;
  const id = `WH-${randomBytes(6).toString("hex")}`;
  await trx.execute(
    `INSERT INTO webhooks (id, url, events, secret, created_by) VALUES ($1, $2, $3, $4, $5)`,
    [id, url, events, secret, createdBy],
  );
  return id;
}

/** Removes a webhook. @param named its URL or its id @returns its id, or undefined: there is none */
export async function removeWebhook(db: Db, named: string): Promise<string | undefined> {
  const row = await db.first(
    `UPDATE webhooks SET disabled_at = now()
     WHERE disabled_at IS NULL AND (url = $1 OR id = $1) RETURNING id`,
    [named],
  );
  return row?.id;
}

/** Returns the webhooks, oldest first. */
export async function listWebhooks(
  db: Db,
): Promise<Pick<Webhook, "id" | "url" | "events" | "createdAt">[]> {
  const rows = await db.query(
    `SELECT id, url, events, created_at FROM webhooks
     WHERE disabled_at IS NULL ORDER BY created_at, id`,
  );
  return rows.map(({ id, url, events, created_at }) => ({
    id,
    url,
    events,
    createdAt: created_at.toISOString(),
  }));
}

/** Counts the webhooks. */
export async function countWebhooks(db: Db): Promise<number> {
  const row = await db.first(
    "SELECT count(*)::int AS count FROM webhooks WHERE disabled_at IS NULL",
  );
  return row!.count;
}

/** Stops sending to a webhook. */
export async function disableWebhook(db: Db, id: string): Promise<void> {
  await db.execute(
    "UPDATE webhooks SET disabled_at = now() WHERE id = $1 AND disabled_at IS NULL",
    [id],
  );
}

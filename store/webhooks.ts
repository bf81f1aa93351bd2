import { randomBytes } from "node:crypto";
import type { Queryable } from "./connection.ts";

export { WEBHOOKS_QUEUED } from "./_webhook_queue.ts";

/** What a webhook can be told of. */
export const WEBHOOK_EVENTS = ["ticket.opened", "ticket.updated", "ticket.resolved"] as const;
/** Kind of news. */
export type WebhookEvent = typeof WEBHOOK_EVENTS[number];

/** Somebody who is told of tickets. */
export interface Webhook {
  /** `WH-` and 12 hex characters. */
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Encrypted. */
  readonly secret: Buffer;
  readonly tenant: string;
  /** Key id. */
  readonly createdBy: string;
  readonly createdAt: string;
}

/** How a delivery stands. */
export type DeliveryState = "queued" | "delivered" | "dead";

/** What one webhook was or is to be told. */
export interface Delivery {
  /** The header `webhook-id`. */
  readonly id: string;
  readonly webhookId: string;
  readonly url: string;
  readonly ticketId: string;
  readonly type: WebhookEvent;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly endedAt: string | null;
}

/** A delivery with what it takes to make it. */
export interface OutgoingDelivery {
  readonly state: DeliveryState;
  readonly url: string;
  readonly secret: Buffer;
  readonly body: string;
  readonly webhookId: string;
  /** It has said that it is gone. */
  readonly disabled: boolean;
}

/** Registers a webhook; the same URL of the same tenant again gets the new events and secret. @returns its id */
export async function putWebhook(
  on: Queryable,
  { url, events, secret, tenant, createdBy }: Omit<Webhook, "id" | "createdAt">,
): Promise<string> {
  const [known] = await on("webhooks").where({ url, tenant }).whereNull("disabled_at")
    .update({ events: [...events], secret, created_by: createdBy }).returning("id");
  if (known) return known.id;
  const id = `WH-${randomBytes(6).toString("hex")}`;
  await on("webhooks").insert({
    id,
    url,
    events: [...events],
    secret,
    tenant,
    created_by: createdBy,
  });
  return id;
}

/** The secret of a webhook as it is kept, which is not in the clear; undefined: there is no such webhook. */
export async function getWebhookSecret(on: Queryable, id: string): Promise<Buffer | undefined> {
  return (await on("webhooks").where({ id }).first("secret"))?.secret;
}

/** Tells a tenant's webhook nothing more. @param named its URL or its id. @returns its id; undefined: there is none */
export async function removeWebhook(
  on: Queryable,
  { named, tenant }: { named: string; tenant: string },
): Promise<string | undefined> {
  const [removed] = await on("webhooks").where({ tenant }).whereNull("disabled_at")
    .where((either) => either.where({ url: named }).orWhere({ id: named }))
    .update({ disabled_at: on.fn.now() }).returning("id");
  return removed?.id;
}

/** What a tenant has registered, oldest first. */
export async function listWebhooks(
  on: Queryable,
  tenant: string,
): Promise<(Pick<Webhook, "id" | "url" | "events"> & { readonly createdAt: string })[]> {
  const rows = await on("webhooks").where({ tenant }).whereNull("disabled_at")
    .orderBy("created_at").orderBy("id");
  return rows.map(({ id, url, events, created_at }) => ({
    ...{ id, url, events, createdAt: created_at.toISOString() },
  }));
}

/** How many a tenant has. */
export async function countWebhooks(on: Queryable, tenant: string): Promise<number> {
  const row = await on("webhooks").where({ tenant }).whereNull("disabled_at").count("* as n")
    .first();
  return Number(row?.n ?? 0);
}

/** Tells a webhook nothing more. */
export async function disableWebhook(on: Queryable, id: string): Promise<void> {
  await on("webhooks").where({ id }).whereNull("disabled_at").update({ disabled_at: on.fn.now() });
}

/** Ids of deliveries whose workflow has not begun, oldest first. */
export async function listUnstartedDeliveries(on: Queryable, limit: number): Promise<string[]> {
  return await on("webhook_deliveries").whereNull("started_at").orderBy("created_at").limit(limit)
    .pluck("id");
}

/** Notes that a delivery's workflow has begun. */
export async function markDeliveryStarted(on: Queryable, id: string): Promise<void> {
  await on("webhook_deliveries").where({ id }).whereNull("started_at")
    .update({ started_at: on.fn.now() });
}

/** What it takes to make a delivery, or undefined where there is no such one. */
export async function getOutgoingDelivery(on: Queryable, id: string): Promise<OutgoingDelivery | undefined> {
  const row = await on("webhook_deliveries as d").join("webhooks as w", "w.id", "d.webhook_id")
    .where("d.id", id).first(
      "d.state",
      "d.body",
      "d.webhook_id",
      "w.url",
      "w.secret",
      "w.disabled_at",
    );
  return row && {
    state: row.state,
    url: row.url,
    secret: row.secret,
    body: row.body,
    webhookId: row.webhook_id,
    disabled: row.disabled_at !== null,
  };
}

/** Notes how an attempt went. What has ended stays as it is. */
export async function recordDeliveryAttempt(
  on: Queryable,
  id: string,
  attempt: {
    /** From 1. */
    number: number;
    state: DeliveryState;
    status: number | null;
    error: string | null;
    retryInSeconds: number | null;
  },
): Promise<void> {
  const { number, state, status, error, retryInSeconds } = attempt;
  await on("webhook_deliveries").where({ id, state: "queued" }).update({
    state,
    attempts: number,
    last_status: status,
    last_error: error,
    next_attempt_at: retryInSeconds === null
      ? null
      : on.raw("now() + ? * interval '1 second'", [retryInSeconds]),
    ended_at: state === "queued" ? null : on.fn.now(),
  });
}

/** Forgets what ended long ago. @param days > 0 */
export async function forgetDeliveries(on: Queryable, days: number): Promise<void> {
  await on("webhook_deliveries").whereNot({ state: "queued" })
    .where("ended_at", "<", on.raw("now() - ? * interval '1 day'", [days])).delete();
}

/** Which deliveries to list. */
export interface DeliveryFilter {
  /** Whose webhooks they went to. */
  readonly tenant: string;
  readonly state?: DeliveryState;
  readonly webhookId?: string;
}

/** Deliveries, newest first. */
export async function listDeliveries(
  on: Queryable,
  { tenant, state, webhookId, limit }: DeliveryFilter & { limit: number },
): Promise<Delivery[]> {
  const query = on("webhook_deliveries as d").join("webhooks as w", "w.id", "d.webhook_id")
    .select("d.*", "w.url").where("w.tenant", tenant)
    .orderBy("d.created_at", "desc").orderBy("d.id").limit(limit);
  if (state) query.where("d.state", state);
  if (webhookId) query.where("d.webhook_id", webhookId);
  return (await query).map((row) => ({
    id: row.id,
    webhookId: row.webhook_id,
    url: row.url,
    ticketId: row.ticket_id,
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

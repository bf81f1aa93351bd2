import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Limit, TicketId, Timestamp } from "../schemas/mod.ts";
import { WebhookEvent, WebhookId } from "./_schemas.ts";
import { type Delivery, listDeliveries, listWebhooks } from "../../store/webhooks/mod.ts";

const DeliveryState = z.enum(["queued", "delivered", "dead"]);
const Origin = z.string().describe("Scheme and host of the URL; the path may be a secret");

/** Webhooks of the caller's tenant, and their deliveries. */
export const webhookDeliveries = operation({
  name: "webhooks.deliveries",
  group: "itsm",
  summary: "List the webhooks of your organization and their deliveries, newest first",
  description:
    "A delivery is `dead` after a day of attempts, or at once where the address must not be reached or the receiver " +
    "answered 410 Gone; such a receiver gets no more messages.",
  effect: "read",
  access: "key",
  input: z.object({
    state: DeliveryState.optional().describe("Only deliveries in this state"),
    webhook_id: WebhookId.optional().describe("Only deliveries to this webhook"),
    limit: Limit,
  }),
  output: z.object({
    deliveries: z.array(z.object({
      delivery_id: z.string().describe("Value of the header webhook-id"),
      webhook_id: WebhookId,
      origin: Origin,
      ticket_id: TicketId.nullable(),
      approval_id: z.string().nullable().describe("Set where the event is of an approval"),
      type: WebhookEvent,
      state: DeliveryState,
      attempts: z.number().int(),
      last_status: z.number().int().nullable().describe("HTTP status of the last attempt"),
      last_error: z.string().nullable().describe(
        "status_500, timeout, unreachable, refused_address, …",
      ),
      created_at: Timestamp,
      next_attempt_at: Timestamp.nullable(),
      ended_at: Timestamp.nullable(),
      workflow_id: z.string(),
    })),
    webhooks: z.array(z.object({
      webhook_id: WebhookId,
      origin: Origin,
      events: z.array(WebhookEvent),
      created_at: Timestamp,
    })).describe("All webhooks of the organization"),
  }),
  rest: { itsm_webhook_deliveries: "GET /v1/itsm/webhooks/deliveries" },
  example: {
    input: { state: "dead" },
    output: {
      deliveries: [{
        delivery_id: "msg_0a3c1f7be2d94c55a1b7d0e6f4c2a981",
        webhook_id: "WH-5b1e09c77a42",
        origin: "https://hooks.example.com",
        ticket_id: "INC-4f1d22a90b7c",
        approval_id: null,
        type: "ticket.opened",
        state: "dead",
        attempts: 10,
        last_status: 503,
        last_error: "status_503",
        created_at: "2026-07-01T12:00:00.000Z",
        next_attempt_at: null,
        ended_at: "2026-07-02T11:36:05.000Z",
        workflow_id: "webhook-msg_0a3c1f7be2d94c55a1b7d0e6f4c2a981",
      }],
      webhooks: [{
        webhook_id: "WH-5b1e09c77a42",
        origin: "https://hooks.example.com",
        events: ["ticket.opened"],
        created_at: "2026-06-01T09:00:00.000Z",
      }],
    },
  },
  run: async ({ state, webhook_id, limit }, { store }) => {
    const db = store.db;
    const [deliveries, webhooks] = await Promise.all([
      listDeliveries(db, { state, webhookId: webhook_id, limit }),
      listWebhooks(db),
    ]);
    return {
      deliveries: deliveries.map(toDelivery),
      webhooks: webhooks.map(({ id, url, events, createdAt }) => ({
        webhook_id: id,
        origin: new URL(url).origin,
        events,
        created_at: createdAt,
      })),
    };
  },
});

function toDelivery(delivery: Delivery) {
  return {
    delivery_id: delivery.id,
    webhook_id: delivery.webhookId,
    origin: new URL(delivery.url).origin,
    ticket_id: delivery.ticketId,
    approval_id: delivery.approvalId,
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attempts,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    created_at: delivery.createdAt,
    next_attempt_at: delivery.nextAttemptAt,
    ended_at: delivery.endedAt,
    workflow_id: `webhook-${delivery.id}`,
  };
}

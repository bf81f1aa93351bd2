/**
 * Webhooks and their deliveries.
 *
 * @module
 */
export {
  type Delivery,
  getOutgoingDelivery,
  listDeliveries,
  listUnstartedDeliveries,
  markDeliveryStarted,
  type OutgoingDelivery,
  pruneDeliveries,
  queueApprovalDeliveries,
  queueDeliveries,
  recordDeliveryAttempt,
  WEBHOOKS_QUEUED,
} from "./webhook_deliveries.ts";
export {
  countWebhooks,
  disableWebhook,
  listWebhooks,
  putWebhook,
  removeWebhook,
  TICKET_EVENTS,
  WEBHOOK_EVENTS,
} from "./webhooks.ts";

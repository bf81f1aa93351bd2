/** Webhooks: registering them, and their deliveries. @module */
import { webhookDeliveries } from "./deliveries.ts";
import { registerWebhook } from "./register.ts";

/** Operations of this folder. */
export const webhookOperations = [
  registerWebhook,
  webhookDeliveries,
];

/** Webhooks: registering them, and their deliveries. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { registerWebhook, webhookDeliveries } from "./webhooks.ts";

/** Operations of this folder. */
export const webhookOperations: readonly Operation<Platform>[] = [
  registerWebhook,
  webhookDeliveries,
];

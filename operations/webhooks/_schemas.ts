import { z } from "zod";
import { WEBHOOK_EVENTS } from "../../store/webhooks/mod.ts";

/** Id of a webhook. */
export const WebhookId = z.string()
  .regex(/^WH-[0-9a-f]{12}$/, "Expected WH- and 12 hex characters")
  .describe("Id of the webhook, such as WH-5b1e09c77a42");

/** An event that webhooks receive. */
export const WebhookEvent = z.enum(WEBHOOK_EVENTS);

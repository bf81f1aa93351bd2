export { openSecretBox } from "./secret_box.ts";
export { newWebhookSecret, WEBHOOK_KEY, WEBHOOK_SECRET, webhookHeaders } from "./webhook.ts";

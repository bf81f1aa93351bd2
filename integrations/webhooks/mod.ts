/**
 * Webhooks: their secrets, and the signatures of their messages.
 *
 * ```ts
 * const box = openSecretBox(config);
 * const headers = signWebhook(id, new Date(), body, box.open(sealed, tenant));
 * ```
 *
 * Doesn't trust: the database, which has the secrets only encrypted.
 * @module
 */
export { loadWebhookKey, openSecretBox, WEBHOOK_KEY_FILE } from "./secret_box.ts";
export { createWebhookSecret, signWebhook, WEBHOOK_SECRET_PATTERN } from "./webhook.ts";

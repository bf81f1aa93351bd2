/**
 * Webhooks: their secrets, and the signatures of their messages.
 *
 * ```ts
 * const box = openSecretBox(join(dataDir, WEBHOOK_KEY_FILE));
 * const headers = signWebhook(id, new Date(), body, box.open(sealed, tenant));
 * ```
 *
 * Doesn't trust: the database, which has the secrets only encrypted.
 * @module
 */
export { openSecretBox } from "./secret_box.ts";
export {
  createWebhookSecret,
  signWebhook,
  WEBHOOK_KEY_FILE,
  WEBHOOK_SECRET_PATTERN,
} from "./webhook.ts";

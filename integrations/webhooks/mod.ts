export { openSecretBox } from "./secret_box.ts";
export {
  createWebhookSecret,
  signWebhook,
  WEBHOOK_KEY_FILE,
  WEBHOOK_SECRET_PATTERN,
} from "./webhook.ts";

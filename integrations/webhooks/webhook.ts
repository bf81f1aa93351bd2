import { createHmac, randomBytes } from "node:crypto";

/** Format of a secret: `whsec_` and 24 to 64 bytes in base64. */
export const WEBHOOK_SECRET_PATTERN =
  /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Creates a secret of 32 random bytes. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/**
 * Signs a message. Returns its headers.
 *
 * @param id the same for every attempt, so that a receiver recognizes what it has had
 * @param at of this attempt
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signWebhook(
  id: string,
  at: Date,
  body: string,
  secret: string,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

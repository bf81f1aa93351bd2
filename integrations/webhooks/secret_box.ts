import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { readOrCreateSecret } from "../files/mod.ts";

/** Encrypts secrets that have to be read again, with a key that is kept elsewhere. */
export interface SecretBox {
  /** Encrypts a secret. @param about its owner, such as a tenant's id; it opens only with the same */
  seal(secret: string, about: string): Buffer;
  /** Decrypts a secret. @throws {Error} it was changed, has another owner, or was sealed with another key */
  open(sealed: Buffer, about: string): string;
}

/** Name of the file in the data folder with the key, where no setting has it. */
export const WEBHOOK_KEY_FILE = "webhook.key";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Opens a box that uses AES-256-GCM, with the key of {@linkcode loadWebhookKey}, which is read at the first use. */
export function openSecretBox(config: Pick<Config, "settings" | "dataDir">): SecretBox {
  let key: Buffer | undefined;
  return {
    seal(secret, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key ??= loadWebhookKey(config), nonce);
      cipher.setAAD(Buffer.from(about));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    open(sealed, about) {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", key ??= loadWebhookKey(config), nonce);
      decipher.setAAD(Buffer.from(about));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    },
  };
}

/**
 * Returns the key that gateway, tool server and workers share, from the setting or the file of the data folder. The first
 * process creates the file, which only its owner can read.
 *
 * @throws {Error} the file is no key
 */
export function loadWebhookKey(
  { settings, dataDir }: Pick<Config, "settings" | "dataDir">,
): Buffer {
  const given = settings.SEALOOP_WEBHOOK_KEY;
  if (given !== undefined) return Buffer.from(given, "hex");
  const path = join(dataDir, WEBHOOK_KEY_FILE);
  const key = readOrCreateSecret(path, () => randomBytes(KEY_BYTES));
  if (key.length === KEY_BYTES) return key;
  throw new Error(
    `Cannot use the key in ${path}: it has ${key.length} bytes in place of ${KEY_BYTES}`,
  );
}

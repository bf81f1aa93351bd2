import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { readOrCreateSecret } from "../files/mod.ts";

/** Encrypts secrets that have to be read again, with a key that is kept elsewhere. */
export interface SecretBox {
  /** Encrypts a secret. @param about its owner, such as a tenant's id; it opens only with the same */
  seal(secret: string, about: string): Buffer;
  /** Decrypts a secret. @throws {Error} it was changed, has another owner, or was sealed with another key */
  open(sealed: Buffer, about: string): string;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Opens a box that uses AES-256-GCM. Its key is created at the first use, in a file that only its owner can read.
 *
 * @param path of the key's file; every process that shares the database needs the same
 */
export function openSecretBox(path: string): SecretBox {
  let key: Buffer | undefined;
  return {
    seal(secret, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key ??= loadKey(path), nonce);
      cipher.setAAD(Buffer.from(about));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    open(sealed, about) {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", key ??= loadKey(path), nonce);
      decipher.setAAD(Buffer.from(about));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    },
  };
}

/** Reads the key, or creates it. @throws {Error} the file is no key */
function loadKey(path: string): Buffer {
  const key = readOrCreateSecret(path, () => randomBytes(KEY_BYTES));
  if (key.length === KEY_BYTES) return key;
  throw new Error(
    `Cannot use the key in ${path}: it has ${key.length} bytes in place of ${KEY_BYTES}`,
  );
}

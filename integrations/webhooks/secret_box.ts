import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** Encrypts secrets that have to be read again, with a key that is kept elsewhere. */
export interface SecretBox {
  /** @param about what the secret belongs to; it opens only with the same */
  seal(secret: string, about: string): Buffer;
  /** @throws {Error} it was changed, belongs to something else, or was sealed with another key */
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

/** Reads the key, or creates it. Of several processes that do so at once, all get the same. */
function loadKey(path: string): Buffer {
  const known = readKey(path);
  if (known) return known;
  const fresh = `${path}.${randomBytes(4).toString("hex")}`;
  writeFileSync(fresh, randomBytes(KEY_BYTES), { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(fresh, path);
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh);
  }
  return readKey(path)!;
}

function readKey(path: string): Buffer | undefined {
  try {
    const key = readFileSync(path);
    if (key.length === KEY_BYTES) return key;
    throw new Error(
      `Cannot use the key in ${path}: it has ${key.length} bytes in place of ${KEY_BYTES}`,
    );
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}

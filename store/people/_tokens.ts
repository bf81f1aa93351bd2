import { hash, randomBytes } from "node:crypto";
import { KEY_PREFIX } from "../../contract/domain/mod.ts";

/** Returns the hash by which a secret is stored. A secret has 256 random bits, so a fast one is as safe as a slow one. */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Returns the form of a kind of secrets: how they are made, and a check that needs no query. */
export function newForm(kind: string) {
  const start = `${KEY_PREFIX}_${kind}_`;
  const form = new RegExp(`^${start}[A-Za-z0-9_-]{43}$`);
  return {
    make: () => start + randomBytes(32).toString("base64url"),
    fits: (text: string) => form.test(text),
  };
}

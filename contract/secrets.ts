import { KEY_PREFIX } from "../domain/mod.ts";

const SECRET = new RegExp(`whsec_[A-Za-z0-9+/=_-]+|${KEY_PREFIX}_[a-z]+_[A-Za-z0-9_-]{16,}`, "g");

/** A copy without what opens something: keys, and secrets of webhooks. */
export function redactSecrets<T>(value: T): T {
  if (typeof value === "string") return value.replace(SECRET, "[secret]") as T;
  if (Array.isArray(value)) return value.map(redactSecrets) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, redactSecrets(inner)]),
  ) as T;
}

import { parseFields } from "./record_fields.ts";
import { isSuccession } from "./succession.ts";
import type { TrustedKey } from "./types.ts";

/** Texts of which a receipt that introduces keys has one. Few others do, so that few have to be parsed. */
export const KEY_MARKS = ['"ledger_key":"', '"new_key_signature":"'] as const;

/**
 * Adds the keys that a receipt says it introduces, where nobody publishes them. They are claims, to be verified like
 * published keys.
 *
 * @param keys that the receipts before have introduced
 */
export function collectKeys(keys: readonly TrustedKey[], json: string): readonly TrustedKey[] {
  if (!KEY_MARKS.some((mark) => json.includes(mark))) return keys;
  const { category, details, chain_position, signature } = parseFields(json);
  if (typeof category !== "string" || !isSuccession(category)) return keys;
  if (!Number.isSafeInteger(chain_position)) return keys;
  const position = Number(chain_position);
  const { ledger_key, new_key, old_key, recovery_key, keys: imported } = toObject(details);
  if (category !== "key_rotated") {
    const before = category === "ledger_adopted" && Array.isArray(imported)
      ? imported.map(toObject).flatMap((key) =>
        toKey(key.public_key, Number(key.from_position), key.recovery_key)
      )
      : keys;
    return [...before, ...toKey(ledger_key, position, recovery_key)];
  }
  const signer = toObject(signature).public_key;
  const isRecovery = signer !== old_key && signer === keys.at(-1)?.recoveryKey;
  return [
    ...keys,
    ...isRecovery ? toKey(signer, position, signer) : [],
    ...toKey(new_key, position + 1, recovery_key),
  ];
}

/** Returns none where the values are not those of a key. */
function toKey(publicKey: unknown, fromPosition: number, recoveryKey: unknown): TrustedKey[] {
  if (!isHexKey(publicKey) || !(fromPosition >= 0)) return [];
  return [
    isHexKey(recoveryKey) ? { publicKey, fromPosition, recoveryKey } : { publicKey, fromPosition },
  ];
}

const isHexKey = (value: unknown): value is string =>
  typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

const toObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? value as Record<string, unknown> : {};

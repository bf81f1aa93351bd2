import { InvalidInput } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import { waitForPending } from "./_pending.ts";
import { AmbiguousReceipt, ReceiptNotFound } from "./errors.ts";
import { getReceipt, listReceiptsByPrefix, type StoredReceipt } from "./read.ts";

const MIN_PREFIX_LENGTH = 8;

/**
 * Finds one receipt, by its id or by a unique prefix of its id or hash, in any case. One that was requested under
 * exactly this id and is not part of the chain yet is waited for.
 *
 * @throws {ReceiptNotFound} none matches
 * @throws {AmbiguousReceipt} several match
 * @throws {InvalidInput} shorter than 8 characters, and no id
 * @throws {Problem} `Unavailable`: it was requested, and is not sealed within two seconds
 */
export async function findReceipt(store: Store, idOrPrefix: string): Promise<StoredReceipt> {
  const exact = await getReceipt(store, idOrPrefix);
  if (exact) return exact;
  if (await waitForPending(store, idOrPrefix)) return (await getReceipt(store, idOrPrefix))!;
  const prefix = idOrPrefix.toLowerCase();
  if (prefix.length < MIN_PREFIX_LENGTH) {
    throw new InvalidInput([{
      path: ["receipt_id"],
      msg: `No receipt has this id, and a prefix has at least ${MIN_PREFIX_LENGTH} characters`,
      type: "string_too_short",
    }]);
  }
  const found = await listReceiptsByPrefix(store, prefix);
  const whole = found.filter(({ id, hash }) => id.toLowerCase() === prefix || hash === prefix);
  const matches = whole.length > 0 ? whole : found;
  if (matches.length === 0) throw new ReceiptNotFound(idOrPrefix);
  if (matches.length > 1) throw new AmbiguousReceipt(idOrPrefix, matches.map(({ id }) => id));
  return matches[0]!;
}

import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import {
  type Break,
  findKeysWithoutSuccession,
  findNotEnrolled,
  followSpan,
  type Place,
  type TrustedKey,
  type Verdict,
  verifyRecord,
} from "../rules/mod.ts";

/**
 * Verifies one receipt by the rules of its own era.
 *
 * @param json the record as it was exported, byte for byte: printing it again would lose `1.0`
 * @param keys in the order in which they came to be trusted
 */
export function verifyReceipt(json: string, place: Place, keys: readonly TrustedKey[]): Verdict {
  return verifyRecord(json, place, keys, NODE_PRIMITIVES).verdict;
}

/**
 * Verifies a chain from its first entry.
 *
 * Each entry is compared with the hash that its predecessor claims, and missing entries are skipped, so that one fault is
 * reported once, where it is.
 *
 * @param records exported records, oldest first, byte for byte
 */
export async function verifyChain(
  records: Iterable<string> | AsyncIterable<string>,
  keys: readonly TrustedKey[],
): Promise<{ total: number; breaks: Break[] }> {
  const span = followSpan({ position: 0, previousHash: "" }, keys, NODE_PRIMITIVES);
  let total = 0;
  for await (const json of records) {
    span.add(json);
    total++;
  }
  const breaks = span.breaks.map(({ position, reason }) => ({ position, reason }));
  const ofKeys = findKeysWithoutSuccession(keys, span.introduced);
  return { total, breaks: [...breaks, ...ofKeys, ...findNotEnrolled(span.places)] };
}

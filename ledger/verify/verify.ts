import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import {
  type Break,
  findKeysWithoutSuccession,
  findPlaceBreaks,
  followSpan,
  type TrustedKey,
} from "../rules/mod.ts";

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
  return { total, breaks: [...breaks, ...ofKeys, ...findPlaceBreaks(span.places)] };
}

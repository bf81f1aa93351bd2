import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import {
  type Break,
  findKeysWithoutSuccession,
  followRecord,
  type IntroducedKey,
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
  const breaks: Break[] = [];
  const introduced: IntroducedKey[] = [];
  let place: Place = { position: 0, previousHash: "" };
  let total = 0;
  for await (const json of records) {
    const followed = followRecord(json, place, keys, NODE_PRIMITIVES);
    if (followed.fault) breaks.push(followed.fault);
    introduced.push(...followed.introduced);
    place = followed.next;
    total++;
  }
  breaks.push(...findKeysWithoutSuccession(keys, introduced));
  return { total, breaks };
}

import { readLink } from "./record_fields.ts";
import { findKeysWithoutSuccession, findUnproven, type IntroducedKey } from "./succession.ts";
import type { Break, Primitives, TrustedKey } from "./types.ts";
import { verifyRecord } from "./verify_record.ts";

/** Proof of published keys by the receipts of a chain. */
export interface KeyProof {
  /** Keys that no receipt introduces. */
  readonly breaks: readonly Break[];
  /** Position from which the keys are not proven by those that the reader knows; undefined: they are. */
  readonly unproven: number | undefined;
}

/**
 * Looks for the receipts that introduce published keys, without reading the whole chain.
 *
 * The links of these receipts are not verified here: that is for whoever reads the chain.
 *
 * @param end position after the last receipt
 * @param read returns the record at a position, byte for byte, or undefined where there is none
 */
export async function proveKeys(
  keys: readonly TrustedKey[],
  end: number,
  read: (position: number) => Promise<string | undefined>,
  primitives: Primitives,
): Promise<KeyProof> {
  const introduced: IntroducedKey[] = [];
  for (const position of listIntroductions(keys)) {
    const record = position < end ? await read(position) : undefined;
    if (record === undefined) continue;
    const place = { position, previousHash: readLink(record) };
    introduced.push(...verifyRecord(record, place, keys, primitives).introduced);
  }
  return {
    breaks: findKeysWithoutSuccession(keys, introduced),
    unproven: findUnproven(keys, introduced, end),
  };
}

/** Returns the keys that are published before the first one without a succession. */
export function listProvenKeys(keys: readonly TrustedKey[], { breaks }: KeyProof): TrustedKey[] {
  const end = Math.min(...breaks.map(({ position }) => position));
  return keys.filter(({ fromPosition }) => fromPosition < end);
}

/** Lists the positions of the receipts that may introduce keys. */
export function listIntroductions(keys: readonly TrustedKey[]): number[] {
  const positions = keys
    .filter(({ recoveryKey }) => recoveryKey !== undefined)
    .flatMap(({ fromPosition }) => [fromPosition - 1, fromPosition])
    .filter((position) => position >= 0);
  return [...new Set(positions)];
}

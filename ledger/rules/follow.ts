import type { Break, Era, Place, Primitives, TrustedKey } from "./types.ts";
import { verifyRecord } from "./verify_record.ts";

/** Result for one record of a chain. */
export interface FollowResult {
  /** Its place in the chain. */
  readonly position: number;
  /** The fault of the record, or that those before it are missing. */
  readonly found: Break | undefined;
  readonly era: Era | undefined;
  /** The place that the next record is verified against. */
  readonly next: Place;
}

/**
 * Verifies the next record of a chain, and goes on over places where receipts are missing.
 *
 * A record may not link to the one before and yet be valid by itself at the position that it claims and signs. Then those
 * in between are missing, or it is out of order. That is reported as one break, and the next record is verified from
 * there.
 *
 * @param json the record as it was exported, byte for byte
 * @param keys in the order in which they came to be trusted
 */
export function followRecord(
  json: string,
  place: Place,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): FollowResult {
  const { verdict, hash, era } = verifyRecord(json, place, keys, primitives);
  const at = (position: number, reason: string | undefined): FollowResult => ({
    position,
    found: reason === undefined ? undefined : { position, reason },
    era,
    next: { position: position + 1, previousHash: hash, previousEra: era },
  });
  if (verdict.verified) return at(place.position, undefined);
  const reason = verdict.reasons.join("; ");
  const claimed = readPosition(json);
  if (
    claimed === undefined || claimed === place.position ||
    !isValidAlone(json, claimed, place, keys, primitives)
  ) return at(place.position, reason);
  if (readLink(json) === place.previousHash) { // earlier eras, which have no positions, have too many or too few
    return { ...at(claimed, undefined), found: { position: place.position, reason } };
  }
  if (claimed < place.position) {
    const found = { position: claimed, reason: "It is there twice, or out of order" };
    return { position: claimed, found, era, next: place };
  }
  const found = { position: place.position, reason: describeGap(place.position, claimed) };
  return { ...at(claimed, undefined), found };
}

/**
 * Returns the place after a record that stands before those that are to be verified.
 *
 * @param position of the record where none before it is missing
 */
export function findPlaceAfter(
  json: string,
  position: number,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): Place {
  const claimed = readPosition(json) ?? position;
  const elsewhere = claimed !== position &&
    isValidAlone(json, claimed, { position, previousHash: "" }, keys, primitives);
  const place = { position: elsewhere ? claimed : position, previousHash: readLink(json) };
  const { hash, era } = verifyRecord(json, place, keys, primitives);
  return { position: place.position + 1, previousHash: hash, previousEra: era };
}

/** Returns true where all of a record is valid but its link to the one before. */
function isValidAlone(
  json: string,
  position: number,
  place: Place,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): boolean {
  const alone = { ...place, position, previousHash: readLink(json) };
  return verifyRecord(json, alone, keys, primitives).verdict.verified;
}

/** Describes missing receipts from one position up to another, exclusive. */
function describeGap(from: number, to: number): string {
  return to - from === 1 ? "Missing" : `Missing, with all up to ${to - 1}`;
}

/** Returns the position that a record of era 3 claims. Used only to tell which ones are missing. */
export function readPosition(json: string): number | undefined {
  const { chain_position, schema_version } = parseFields(json);
  const isPosition = Number.isSafeInteger(chain_position) && Number(chain_position) >= 0;
  return isPosition && schema_version === "3.0" ? Number(chain_position) : undefined;
}

/** Returns the hash that a record claims to link to. */
export function readLink(json: string): string {
  const { prev_hash } = parseFields(json);
  return typeof prev_hash === "string" ? prev_hash : "";
}

/** Returns the fields of a record; none where it is no object. */
export function parseFields(json: string): Record<string, unknown> {
  try {
    const value = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // the rules have reported that
  }
}

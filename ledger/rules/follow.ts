import type { IntroducedKey } from "./succession.ts";
import type { Break, Era, Place, Primitives, TrustedKey } from "./types.ts";
import { verifyRecord } from "./verify_record.ts";

/** Result for one record of a chain. */
export interface FollowResult {
  /** Its place in the chain. */
  readonly position: number;
  /** The fault of the record, or of records that are missing before it. */
  readonly fault: Break | undefined;
  readonly era: Era | undefined;
  /** The place that the next record is verified against. */
  readonly next: Place;
  /** Keys that the record introduces, where it is valid. */
  readonly introduced: readonly IntroducedKey[];
}

/**
 * Verifies the next record of a chain, and continues after gaps.
 *
 * A record that does not link to the one before may be valid by itself at the position that it claims and signs. Then
 * records before it are missing, or it is out of order. That is reported as one fault, and the next record is verified
 * from there.
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
  const { verdict, hash, era, introduced } = verifyRecord(json, place, keys, primitives);
  const toResult = (position: number, fault?: Break): FollowResult => ({
    position,
    fault,
    era,
    next: { position: position + 1, previousHash: hash, previousEra: era },
    introduced,
  });
  const { position } = place;
  if (verdict.verified) return toResult(position);
  const fault = { position, reason: verdict.reasons.join("; ") };
  const claimed = readPosition(json);
  if (claimed === undefined || claimed === position) return toResult(position, fault);
  if (!isValidAlone(json, claimed, place, keys, primitives)) return toResult(position, fault);
  // It links to the one before: the receipts of earlier eras, which have no positions, are too many or too few.
  if (readLink(json) === place.previousHash) return toResult(claimed, fault);
  if (claimed > position) {
    return toResult(claimed, { position, reason: describeGap(position, claimed) });
  }
  const repeated = { position: claimed, reason: "It is there twice, or out of order" };
  return { position: claimed, fault: repeated, era, next: place, introduced: [] };
}

/**
 * Returns the place after a record from which verification starts. The record itself is not verified.
 *
 * @param position of the record, where none before it is missing
 */
export function findPlaceAfter(
  json: string,
  position: number,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): Place {
  const claimed = readPosition(json) ?? position;
  const isElsewhere = claimed !== position &&
    isValidAlone(json, claimed, { position, previousHash: "" }, keys, primitives);
  const place = { position: isElsewhere ? claimed : position, previousHash: readLink(json) };
  const { hash, era } = verifyRecord(json, place, keys, primitives);
  return { position: place.position + 1, previousHash: hash, previousEra: era };
}

/** Returns true where a record is valid at a position, whatever it links to. */
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

/** Returns the position that a record of era 3 claims. It is not verified here. */
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
    return {}; // verifyRecord() reports it
  }
}

/** Following a chain over places where receipts are missing. Without anything of Node, as the rules are. */
import {
  type Break,
  type Era,
  type Place,
  type Primitives,
  type TrustedKey,
  verifyRecord,
} from "./verify_record.ts";

/** What one record of a chain was found to be. */
export interface FollowResult {
  /** Where it stands. */
  readonly position: number;
  /** What does not hold: of the record, or that there are none before it. */
  readonly found: Break | undefined;
  readonly era: Era | undefined;
  /** What the next record is verified against. */
  readonly next: Place;
}

/**
 * Verifies the next record of a chain. Where it does not follow on the one before, and yet holds by itself at the
 * position that it claims and signs, those in between are missing, or it is out of order: that is said once, and
 * what comes after it is verified from there. Nothing is let pass by that, as it is a break in any case.
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
    !holdsByItself(json, claimed, place, keys, primitives)
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
 * The place after a record that stands before those that are to be verified.
 *
 * @param position that it has where none before it is missing
 */
export function findPlaceAfter(
  json: string,
  position: number,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): Place {
  const claimed = readPosition(json) ?? position;
  const elsewhere = claimed !== position &&
    holdsByItself(json, claimed, { position, previousHash: "" }, keys, primitives);
  const place = { position: elsewhere ? claimed : position, previousHash: readLink(json) };
  const { hash, era } = verifyRecord(json, place, keys, primitives);
  return { position: place.position + 1, previousHash: hash, previousEra: era };
}

/** Whether all of a record holds but its link to the one before. */
function holdsByItself(
  json: string,
  position: number,
  place: Place,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): boolean {
  const alone = { ...place, position, previousHash: readLink(json) };
  return verifyRecord(json, alone, keys, primitives).verdict.verified;
}

/** Says that there are none from one position up to another, exclusive. */
export function describeGap(from: number, to: number): string {
  return to - from === 1 ? "Missing" : `Missing, with all up to ${to - 1}`;
}

/** Where a record of era 3 says that it stands; only ever used to tell which ones are missing. */
export function readPosition(json: string): number | undefined {
  const { chain_position, schema_version } = parseFields(json);
  const isPosition = Number.isSafeInteger(chain_position) && Number(chain_position) >= 0;
  return isPosition && schema_version === "3.0" ? Number(chain_position) : undefined;
}

/** What a record links to, as it says itself. */
export function readLink(json: string): string {
  const { prev_hash } = parseFields(json);
  return typeof prev_hash === "string" ? prev_hash : "";
}

/** Fields of a record; none where it is no object. */
export function parseFields(json: string): Record<string, unknown> {
  try {
    const value = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // the rules have said so already
  }
}

import { hashRecord } from "./leaf.ts";
import { notePlaces, openPlacePositions, type PlacePositions } from "./places.ts";
import { readLink, readPosition } from "./record_fields.ts";
import type { IntroducedKey } from "./succession.ts";
import type { Hash } from "./tree.ts";
import type { Break, Place, Primitives, TrustedKey } from "./types.ts";
import { type RecordVerdict, verifyRecord } from "./verify_record.ts";

/** The place of a span's first record. Without `previousHash` its link is not verified. */
type SpanStart = Omit<Place, "previousHash"> & { readonly previousHash: string | undefined };

/** A position at which a span does not hold. */
export interface SpanBreak extends Break {
  readonly kind: "missing" | "repeated" | "invalid";
  /** Exclusive end of what is missing; the next position for the other kinds. */
  readonly to: number;
}

/** Result for one record of a span. */
export interface FollowedRecord extends Omit<RecordVerdict, "introduced"> {
  /** Its place in the chain. */
  readonly position: number;
  /** True where it is there twice, or out of order. */
  readonly isRepeated: boolean;
  /** Its leaf in the Merkle log, if leaves are wanted; undefined for a record that has none. */
  readonly leaf: Hash | undefined;
}

/** Consecutive records of a chain that are verified one after another. */
export interface Span {
  /** So far, in the order in which they were found. */
  readonly breaks: readonly SpanBreak[];
  /** Keys that valid records introduce. */
  readonly introduced: readonly IntroducedKey[];
  /** Places that valid records name. */
  readonly places: PlacePositions;
  /** Returns the place that the next record is verified against. */
  place(): Place;
  /**
   * Verifies the next record.
   *
   * @param json the record as it was exported, byte for byte; undefined: its bytes are not UTF-8
   * @param stored position at which it is stored. Without one, it has the next position or the one that it signs
   */
  add(json: string | undefined, stored?: number): FollowedRecord;
  /** Reports the positions up to one, exclusive, as missing. */
  skipTo(position: number): void;
}

/**
 * Verifies a span of a chain record by record, and continues after gaps.
 *
 * A record that does not link to the one before may be valid by itself at the position that it claims and signs. Then
 * records before it are missing, or it is out of order. That is reported as one break, and the next record is verified
 * from there. A position that is not signed is not followed.
 *
 * A record that is stored at a position has no other one, and must link to the one stored before it, also over a gap.
 *
 * @param keys in the order in which they came to be trusted
 */
export function followSpan(
  from: SpanStart,
  keys: readonly TrustedKey[],
  primitives: Primitives,
  { wantsLeaves = false }: { readonly wantsLeaves?: boolean } = {},
): Span {
  const breaks: SpanBreak[] = [];
  const introduced: IntroducedKey[] = [];
  const places = openPlacePositions();
  let place = from;

  function verifyAt(json: string, position: number, previousHash = readLink(json)): RecordVerdict {
    return verifyRecord(json, { ...place, position, previousHash }, keys, primitives);
  }

  /** Finds the verdict on a record at another position that it claims. @returns undefined: it is not valid there */
  function findElsewhere(json: string): Pick<FollowedRecord, "position" | "verdict"> | undefined {
    const position = readPosition(json);
    if (position === undefined || position === place.position) return undefined;
    const { verdict } = verifyAt(json, position);
    return verdict.verified ? { position, verdict } : undefined;
  }

  function skipTo(to: number): void {
    const { position } = place;
    if (to <= position) return;
    const reason = to - position === 1 ? "Missing" : `Missing, with all up to ${to - 1}`;
    breaks.push({ kind: "missing", position, reason, to });
    place = { ...place, position: to };
  }

  function addBreak(kind: "repeated" | "invalid", position: number, reason: string): void {
    breaks.push({ kind, position, reason, to: position + 1 });
  }

  return {
    breaks,
    introduced,
    places,
    place: () => ({ ...place, previousHash: place.previousHash ?? "" }),
    skipTo,
    add(json, stored) {
      if (stored !== undefined) skipTo(stored);
      const text = json ?? "";
      const { position: next, previousHash } = place;
      const { verdict, hash, era, introduced: found, places: named } = verifyAt(
        text,
        next,
        previousHash,
      );
      const isNext = verdict.verified || stored !== undefined;
      const elsewhere = isNext ? undefined : findElsewhere(text);
      const position = elsewhere?.position ?? next;
      // One that links is not out of order: too many or too few of the eras that have no positions are before it.
      const isLinked = !elsewhere || readLink(text) === previousHash;
      const isRepeated = !isLinked && position < next;
      if (isRepeated) addBreak("repeated", position, "It is there twice, or out of order");
      else if (!isLinked) skipTo(position);
      else if (json === undefined) addBreak("invalid", next, "It is not UTF-8");
      else if (!verdict.verified) addBreak("invalid", next, verdict.reasons.join("; "));
      introduced.push(...found);
      if (verdict.verified || elsewhere) notePlaces(places, position, named);
      if (!isRepeated) place = { position: position + 1, previousHash: hash, previousEra: era };
      const leaf = wantsLeaves ? hashRecord(text, position, primitives) : undefined;
      return {
        position,
        isRepeated,
        verdict: isLinked ? verdict : elsewhere.verdict,
        hash,
        era,
        places: named,
        leaf,
      };
    },
  };
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
  const place = { position: claimed, previousHash: readLink(json) };
  const { verdict, hash, era } = verifyRecord(json, place, keys, primitives);
  const next = (verdict.verified ? claimed : position) + 1;
  return { position: next, previousHash: hash, previousEra: era };
}

/** Acts of places: which key has signed that it was told this result, and which receipt has enrolled the key. */
import { canonicalize, joinFields, NotCanonical } from "./canonical.ts";
import { canonicalizeFields, canonicalizeItems } from "./canonical_text.ts";
import { readText } from "./_parse_record.ts";
import type { Break, Primitives } from "./types.ts";

/** Category of the receipts that enrol places. Their `details.place` is the place's id: its public key, as hex. */
export const PLACE_ENROLLED = "place_enrolled";

/** An act as a place signs it. */
export interface PlaceStatement {
  readonly action_id: string;
  /** Id of the place: its public key, as hex. */
  readonly place: string;
  /** SHA-256 of the result's canonical JSON, hex. */
  readonly result_sha256: string;
  /** Of the run, from 1. */
  readonly round: number;
  /** Of the action, from 1. */
  readonly step: number;
}

/** Places that a receipt names. */
export interface NamedPlaces {
  /** Place that it enrols. */
  readonly enrolled?: string;
  /** Places whose signatures it has. */
  readonly acted: readonly string[];
  /** Why they don't hold, where they don't. */
  readonly fault?: string;
}

/** Where places are enrolled, and where they are named first: positions by their ids. */
export interface PlacePositions {
  readonly enrolled: Map<string, number>;
  readonly acted: Map<string, number>;
}

type Fields = ReadonlyMap<string, string>;

/** Categories of receipts that say what is about to be done; the receipt itself is the result. */
const INTENTS = new Set(["repair_intended", "undo_intended", "service_brought_back"]);
/** Categories of receipts that have the results of steps. */
const ENDS = new Set(["self_heal", "escalation"]);
const STATED = ["action_id", "place", "round", "step"] as const;
const NOT_IN_RESULT: ReadonlySet<string> = new Set([...STATED, "place_signature"]);
const UTF_8 = new TextEncoder();
const KEY = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[0-9a-f]{128}$/;
const NONE: NamedPlaces = { acted: [] };
const NOTHING: Fields = new Map();

/** Returns the text that a place signs about an act. */
export function formatPlaceStatement(statement: PlaceStatement): string {
  return canonicalize(statement);
}

/**
 * Verifies what places have signed in a receipt, each signature by the key that is the place's id. That a receipt before
 * has enrolled the place, {@linkcode findNotEnrolled} tells.
 *
 * @param fields of the receipt, each with the canonical text of its value
 */
export function readPlaces(
  fields: Fields,
  primitives: Pick<Primitives, "sha256" | "verifyEd25519" | "fromHex">,
): NamedPlaces {
  const category = readText(fields, "category");
  const details = fieldsOf(fields.get("details"));
  if (category === PLACE_ENROLLED) {
    const enrolled = readText(details, "place");
    return KEY.test(enrolled)
      ? { enrolled, acted: [] }
      : { acted: [], fault: "It enrols a place whose id is no public key" };
  }
  const acts = INTENTS.has(category)
    ? [intentOf(fields, details)]
    : ENDS.has(category)
    ? [...itemsOf(details.get("steps")), ...itemsOf(fieldsOf(details.get("undone")).get("steps"))]
    : [];
  const signed = acts.filter((act) => act.has("place") || act.has("place_signature"));
  if (signed.length === 0) return NONE;
  if (!signed.every((act) => isSigned(act, primitives))) {
    return { acted: [], fault: "The place that it names has not signed this result of the act" };
  }
  return { acted: [...new Set(signed.map((act) => readText(act, "place")))] };
}

/** Returns the result that a receipt of an intent is, with what its place has signed. */
function intentOf(fields: Fields, details: Fields): Fields {
  const result = new Map([
    ["kind", fields.get("action")],
    ["state", fields.get("outcome")],
    ...["effect_id", "code", ...NOT_IN_RESULT].map((name) => [name, details.get(name)] as const),
  ]);
  return new Map([...result].flatMap(([name, json]) => json === undefined ? [] : [[name, json]]));
}

function isSigned(
  act: Fields,
  { sha256, verifyEd25519, fromHex }: Pick<Primitives, "sha256" | "verifyEd25519" | "fromHex">,
): boolean {
  const [place, signature] = [readText(act, "place"), readText(act, "place_signature")];
  if (!KEY.test(place) || !SIGNATURE.test(signature)) return false;
  if (!STATED.every((name) => act.has(name))) return false;
  const result = joinFields([...act].filter(([name]) => !NOT_IN_RESULT.has(name)));
  const statement = joinFields([
    ...STATED.map((name) => [name, act.get(name)!] as const),
    ["result_sha256", `"${sha256(UTF_8.encode(result))}"`],
  ]);
  return verifyEd25519(place, UTF_8.encode(statement), fromHex(signature));
}

function fieldsOf(json = ""): Fields {
  return json.startsWith("{") ? readOr(NOTHING, () => canonicalizeFields(json)) : NOTHING;
}

function itemsOf(json = ""): Fields[] {
  return json.startsWith("[") ? readOr([], () => canonicalizeItems(json)).map(fieldsOf) : [];
}

/** Reads a text. One that is nested too deep within a receipt makes no receipt, which is found elsewhere. */
function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotCanonical) return otherwise;
    throw error;
  }
}

/** Begins without any place. */
export const openPlacePositions = (): PlacePositions => ({
  enrolled: new Map(),
  acted: new Map(),
});

/** Notes the places that the receipt at a position names. */
export function notePlaces(
  positions: PlacePositions,
  position: number,
  { enrolled, acted }: Pick<NamedPlaces, "enrolled" | "acted">,
): void {
  if (enrolled !== undefined) noteFirst(positions.enrolled, enrolled, position);
  for (const place of acted) noteFirst(positions.acted, place, position);
}

/** Adds the places of another part of the chain. */
export function addPlacePositions(to: PlacePositions, more: PlacePositions): void {
  for (const [place, position] of more.enrolled) noteFirst(to.enrolled, place, position);
  for (const [place, position] of more.acted) noteFirst(to.acted, place, position);
}

function noteFirst(positions: Map<string, number>, place: string, position: number): void {
  positions.set(place, Math.min(position, positions.get(place) ?? Infinity));
}

/**
 * Finds the places that have acted before a receipt enrolled them, or that none enrols: one break for each, where it is
 * named first.
 *
 * @param end of what was read from the beginning of the chain without a gap
 */
export function findNotEnrolled({ enrolled, acted }: PlacePositions, end = Infinity): Break[] {
  return [...acted]
    .filter(([place, position]) =>
      position < end && !((enrolled.get(place) ?? Infinity) < position)
    )
    .map(([place, position]) => ({
      position,
      reason: `It is of the place ${place.slice(0, 16)}…, and no receipt before it enrols that`,
    }));
}

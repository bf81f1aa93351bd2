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
  /** True: it says what an act did, and no place has signed that. */
  readonly isUnsigned?: boolean;
  /** Why they don't hold, where they don't. */
  readonly fault?: string;
}

/** Where places are enrolled, where they are named first, and where no place has signed an act. */
export interface PlacePositions {
  /** Positions by the ids of places, as the next. */
  readonly enrolled: Map<string, number>;
  readonly acted: Map<string, number>;
  readonly unsigned: number[];
}

type Fields = ReadonlyMap<string, string>;

/** Categories of receipts that say what is about to be done; the receipt itself is the result. */
const INTENTS = new Set(["repair_intended", "undo_intended", "service_brought_back"]);
/** Categories of receipts that have the results of steps. */
const ENDS = new Set(["self_heal", "escalation"]);
/** Categories of receipts whose details are the result of one act. */
const WHOLE = new Set(["media_made", "platform_scan"]);
const STATED = ["action_id", "place", "round", "step"] as const;
const NOT_IN_RESULT: ReadonlySet<string> = new Set([...STATED, "place_signature"]);
const UTF_8 = new TextEncoder();
const KEY = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[0-9a-f]{128}$/;
const NOTHING: Fields = new Map();

/** Returns the text that a place signs about an act. */
export function formatPlaceStatement(statement: PlaceStatement): string {
  return canonicalize(statement);
}

/**
 * Verifies what places have signed in a receipt, each signature by the key that is the place's id. That a receipt before
 * has enrolled the place, {@linkcode findPlaceBreaks} tells.
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
    : WHOLE.has(category)
    ? [wholeOf(fields, details)]
    : ENDS.has(category)
    ? [...itemsOf(details.get("steps")), ...itemsOf(fieldsOf(details.get("undone")).get("steps"))]
    : [];
  const signed = acts.filter((act) => act.has("place") || act.has("place_signature"));
  if (!signed.every((act) => isSigned(act, primitives))) {
    return { acted: [], fault: "The place that it names has not signed this result of the act" };
  }
  const acted = [...new Set(signed.map((act) => readText(act, "place")))];
  return acts.some(lacksSignature) ? { acted, isUnsigned: true } : { acted };
}

/** Returns whether an act had to be signed. Of one whose place is gone, nobody knows the end, and no place says it. */
function lacksSignature(act: Fields): boolean {
  return !act.has("place_signature") && readText(act, "state") !== "unknown" &&
    (act.has("effect_id") || act.has("outcome"));
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

/** Returns the result that a receipt of a whole act is. What it commits to is chosen after its place has signed. */
function wholeOf(fields: Fields, details: Fields): Fields {
  const result = new Map(details);
  result.delete("commitments");
  for (const name of ["action", "outcome"]) result.set(name, fields.get(name) ?? "null");
  return result;
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
  unsigned: [],
});

/** Notes the places that the receipt at a position names. */
export function notePlaces(
  positions: PlacePositions,
  position: number,
  { enrolled, acted, isUnsigned }: Omit<NamedPlaces, "fault">,
): void {
  if (isUnsigned) positions.unsigned.push(position);
  if (enrolled !== undefined) noteFirst(positions.enrolled, enrolled, position);
  for (const place of acted) noteFirst(positions.acted, place, position);
}

/** Adds the places of another part of the chain. */
export function addPlacePositions(to: PlacePositions, more: PlacePositions): void {
  for (const [place, position] of more.enrolled) noteFirst(to.enrolled, place, position);
  for (const [place, position] of more.acted) noteFirst(to.acted, place, position);
  for (const position of more.unsigned) to.unsigned.push(position);
}

function noteFirst(positions: Map<string, number>, place: string, position: number): void {
  positions.set(place, Math.min(position, positions.get(place) ?? Infinity));
}

/**
 * Finds acts that don't hold: one break for each place that has acted before a receipt enrolled it, or that none enrols, where
 * it is named first; and one for each receipt of an act that no place has signed, once a receipt before has enrolled one.
 *
 * @param end of what was read from the beginning of the chain without a gap
 */
export function findPlaceBreaks(
  { enrolled, acted, unsigned }: PlacePositions,
  end = Infinity,
): Break[] {
  const begin = Math.min(...enrolled.values());
  const strangers = [...acted]
    .filter(([place, position]) => !((enrolled.get(place) ?? Infinity) < position))
    .map(([place, position]) => ({ position, reason: describeStranger(place) }));
  const stripped = unsigned.filter((position) => position > begin)
    .map((position) => ({ position, reason: UNSIGNED }));
  return [...strangers, ...stripped].filter(({ position }) => position < end)
    .sort((a, b) => a.position - b.position);
}

/**
 * Finds why acts of one receipt don't hold after others.
 *
 * @param enrolled ids of the places that receipts before it enrol
 * @returns undefined: they hold
 */
export function findPlaceFault(
  { acted, isUnsigned }: NamedPlaces,
  enrolled: ReadonlySet<string>,
): string | undefined {
  const stranger = acted.find((place) => !enrolled.has(place));
  if (stranger !== undefined) return describeStranger(stranger);
  return isUnsigned && enrolled.size > 0 ? UNSIGNED : undefined;
}

const UNSIGNED = "It is of an act that no place has signed, and a receipt before it enrols places";
const describeStranger = (place: string) =>
  `It is of the place ${place.slice(0, 16)}…, and no receipt before it enrols that`;

import {
  type ParsedRecord,
  parseRecord,
  readEra,
  readText,
  type Signature,
} from "./_parse_record.ts";
import { NotCanonical } from "./canonical.ts";
import { type NamedPlaces, readPlaces } from "./places.ts";
import {
  type IntroducedKey,
  isSuccession,
  type SuccessionResult,
  verifySuccession,
} from "./succession.ts";
import {
  type Check,
  type Checks,
  type Era,
  findTrustedKey,
  type Place,
  type Primitives,
  type TrustedKey,
  type Verdict,
} from "./types.ts";

/** The verdict on a record, and what the next entry is verified against. */
export interface RecordVerdict {
  readonly verdict: Verdict;
  /** `hash_sha256` as the record claims it. */
  readonly hash: string;
  readonly era: Era | undefined;
  /** Keys that the record introduces, where it is valid. */
  readonly introduced: readonly IntroducedKey[];
  /** Places that the record names. */
  readonly places: NamedPlaces;
}

/**
 * Verifies one receipt by the rules of its own era.
 *
 * @param json the record as it was exported, byte for byte: printing it again would lose `1.0`
 * @param keys in the order in which they came to be trusted
 */
export function verifyRecord(
  json: string,
  place: Place,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): RecordVerdict {
  try {
    const record = parseRecord(json, primitives);
    const era = readEra(record.fields);
    if (era === undefined) {
      const reason = "The schema_version is not one that these rules know";
      return { ...NOTHING, verdict: toFailure(reason), hash: record.hash, era: place.previousEra };
    }
    const succession = judgeSuccession(record, era, place, keys, primitives);
    const fault = "fault" in succession ? succession.fault : undefined;
    const places = era === 3 ? readPlaces(record.fields, primitives) : NOTHING.places;
    const verdict = addFault(judge(record, era, place, keys, primitives, fault), places.fault);
    const introduced = "introduced" in succession && verdict.verified ? succession.introduced : [];
    return { verdict, hash: record.hash, era, introduced, places };
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return { ...NOTHING, verdict: toFailure(error.message), hash: "", era: place.previousEra };
  }
}

const NOTHING: Pick<RecordVerdict, "introduced" | "places"> = {
  introduced: [],
  places: { acted: [] },
};

/** Adds a fault that is of none of the checks. */
function addFault(verdict: Verdict, fault: string | undefined): Verdict {
  if (fault === undefined) return verdict;
  return { ...verdict, verified: false, reasons: [...verdict.reasons, fault] };
}

/** Verifies the keys that a record introduces; nearly all introduce none. */
function judgeSuccession(
  { fields }: ParsedRecord,
  era: Era,
  place: Place,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): SuccessionResult {
  const category = readText(fields, "category");
  if (era !== 3 || !isSuccession(category)) return NOTHING;
  const details: unknown = JSON.parse(fields.get("details") ?? "null");
  return verifySuccession({ category, details }, place, keys, primitives);
}

function toFailure(reason: string): Verdict {
  const checks = { hash: "fail", canonical: "fail", signature: "fail", link: "fail" } as const;
  return { verified: false, checks, reasons: [reason] };
}

function judge(
  { fields, bytes, isCanonical, hash, signature }: ParsedRecord,
  era: Era,
  place: Place,
  keys: readonly TrustedKey[],
  primitives: Primitives,
  successionFault: string | undefined,
): Verdict {
  const link = findLinkFault(fields, place, era);
  if (era === 1) {
    const none = "not_applicable" as const;
    const checks = { hash: none, canonical: none, signature: none, link: toCheck(link) };
    return toVerdict(checks, [link, findStrippedVersion(fields)]);
  }
  const derived = isCanonical ? undefined : "The stored fields do not give the canonical bytes";
  const hashed = era === 2 || bytes.length > 0 && primitives.sha256(bytes) === hash
    ? undefined
    : "The hash is not that of the canonical bytes";
  const signed = findSignatureFault(signature, bytes, place.position, keys, primitives) ??
    successionFault;
  const checks = {
    hash: era === 2 ? "not_applicable" as const : toCheck(hashed),
    canonical: toCheck(derived),
    signature: toCheck(signed),
    link: toCheck(link),
  };
  return toVerdict(checks, [derived, hashed, signed, link]);
}

const toCheck = (fault: string | undefined): Check => fault === undefined ? "pass" : "fail";

function toVerdict(checks: Checks, faults: readonly (string | undefined)[]): Verdict {
  const reasons = faults.filter((fault) => fault !== undefined);
  return { verified: reasons.length === 0, checks, reasons };
}

/** An entry of era 1 has nothing to verify, so a later one must not pass as era 1 by losing its version. */
function findStrippedVersion(fields: ReadonlyMap<string, string>): string | undefined {
  const later = SINCE_ERA_2.find((name) => fields.has(name));
  return later && `It has no schema_version, and yet the field ${later}`;
}

const SINCE_ERA_2 = ["canonical_bytes", "signature", "chain_position"];

function findLinkFault(
  fields: ReadonlyMap<string, string>,
  { position, previousHash, previousEra }: Place,
  era: Era,
): string | undefined {
  const prev = readText(fields, "prev_hash");
  if (prev !== previousHash) {
    return prev === ""
      ? "prev_hash is empty, which only the first entry may have"
      : "prev_hash is not the hash of the entry before";
  }
  if (previousEra !== undefined && era < previousEra) { // an earlier era proves less
    return `It is of era ${era}, and the entry before it of era ${previousEra}`;
  }
  if (era === 3 && fields.get("chain_position") !== String(position)) {
    return `chain_position is ${fields.get("chain_position")}, at position ${position}`;
  }
  return undefined;
}

function findSignatureFault(
  signature: Signature | undefined,
  bytes: Uint8Array,
  position: number,
  keys: readonly TrustedKey[],
  { verifyEd25519, fromHex }: Primitives,
): string | undefined {
  if (!signature) return "There is no Ed25519 signature over the canonical bytes";
  if (signature.public_key !== findTrustedKey(keys, position)?.publicKey) {
    return "It is signed by another key than the one published for this position";
  }
  return verifyEd25519(signature.public_key, bytes, fromHex(signature.value))
    ? undefined
    : "The signature does not verify";
}

/**
 * The rules of each era, without anything of Node: the server, the command and the page in a browser decide by the same
 * lines, each with its own implementation of SHA-256 and Ed25519.
 */
import { canonicalizeFields, joinFields, NotCanonical, parseCanonicalFields } from "./canonical.ts";

/** SHA-256, Ed25519 and hex, of whoever verifies. */
export interface Primitives {
  /** SHA-256 as lowercase hex. */
  sha256(bytes: Uint8Array): string;
  /** Strict (RFC 8032; no small-order keys). @param publicKey 32 bytes as hex @param signature 64 bytes */
  verifyEd25519(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean;
  /** Lowercase hex. */
  toHex(bytes: Uint8Array): string;
  /** @param hex an even number of lowercase digits */
  fromHex(hex: string): Uint8Array;
}

/** Result of one check; `not_applicable`: the receipt's era can't be checked in this respect. */
export type Check = "pass" | "fail" | "not_applicable";

/** What the rules of a receipt's era say of it. */
export interface Checks {
  /** SHA-256 of the canonical bytes is the stored hash. */
  readonly hash: Check;
  /** The stored fields, written canonically, are the canonical bytes. */
  readonly canonical: Check;
  /** The Ed25519 signature over the canonical bytes is right, and by a key trusted for this position. */
  readonly signature: Check;
  /** `prev_hash` is the hash of the entry before, and the position is that in the chain. */
  readonly link: Check;
}

/** Result for one receipt. */
export interface Verdict {
  readonly verified: boolean;
  readonly checks: Checks;
  /** What is wrong, in words; empty where it is verified. */
  readonly reasons: readonly string[];
}

/** Where a chain does not hold. */
export interface Break {
  readonly position: number;
  readonly reason: string;
}

/** A public key and from which position on it is trusted, until the next one's. */
export interface TrustedKey {
  /** 32 bytes as hex. */
  readonly publicKey: string;
  readonly fromPosition: number;
}

/** What a receipt is verified against: its place, and the entry before it. */
export interface Place {
  /** From 0. */
  readonly position: number;
  /** `hash_sha256` of the entry before; empty for the first. */
  readonly previousHash: string;
  /** Era of the entry before, where it is known: eras follow each other and never go back. */
  readonly previousEra?: Era;
}

/** Era of a receipt: 1 unsigned, 2 signed without its link, 3 signed whole. */
export type Era = 1 | 2 | 3;

const NOT_IN_PAYLOAD = {
  3: new Set(["canonical_bytes", "signature", "hash_sha256"]),
  // The hash of era 2 was made before signing, and is itself a signed field.
  2: new Set(["canonical_bytes", "signature", "receiver_attestation", "prev_hash"]),
} as const;

/** A record whose parts have been told apart, and nothing decided yet. */
interface ParsedRecord {
  readonly fields: ReadonlyMap<string, string>;
  /** Claimed canonical bytes; empty where there are none, or no hex. */
  readonly bytes: Uint8Array;
  /** The stored fields give the canonical bytes. */
  readonly canonical: boolean;
  readonly hash: string;
  readonly signature: Signature | undefined;
}

/** What {@linkcode verifyRecord} says: the verdict, and what the next entry is verified against. */
export interface RecordVerdict {
  readonly verdict: Verdict;
  /** `hash_sha256` as the record claims it. */
  readonly hash: string;
  readonly era: Era | undefined;
}

const UTF_8 = new TextEncoder();

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
    const opened = openAsPrinted(json, primitives) ?? open(json, primitives);
    const era = eraOf(opened.fields);
    if (era === undefined) {
      const reason = "The schema_version is not one that these rules know";
      return { verdict: unreadable(reason), hash: opened.hash, era: place.previousEra };
    }
    return { verdict: judge(opened, era, place, keys, primitives), hash: opened.hash, era };
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return { verdict: unreadable(error.message), hash: "", era: place.previousEra };
  }
}

function unreadable(reason: string): Verdict {
  const checks = { hash: "fail", canonical: "fail", signature: "fail", link: "fail" } as const;
  return { verified: false, checks, reasons: [reason] };
}

/** Reads any record. */
function open(json: string, { toHex, fromHex }: Primitives): ParsedRecord {
  const fields = canonicalizeFields(json);
  const hex = text(fields, "canonical_bytes");
  const era = eraOf(fields);
  const hash = text(fields, "hash_sha256");
  const signature = asSignature(fields.get("signature"));
  if (era === undefined || era === 1 || hex === "" || !/^(?:[0-9a-f]{2})+$/.test(hex)) {
    return { fields, bytes: new Uint8Array(), canonical: false, hash, signature };
  }
  const derived = joinFields([...fields].filter(([name]) => !NOT_IN_PAYLOAD[era].has(name)));
  const canonical = toHex(UTF_8.encode(derived)) === hex;
  return { fields, bytes: fromHex(hex), canonical, hash, signature };
}

const TAIL = [
  ',"canonical_bytes":"',
  '","hash_sha256":"',
  '","signature":{"algorithm":"Ed25519","public_key":"',
  '","value":"',
  '","signs":"canonical_bytes"}}',
] as const;
/** Characters from the end of the canonical bytes to that of the record. */
const AFTER_BYTES = TAIL.slice(1).join("").length + 64 + 64 + 128;

/**
 * Reads a record of era 3 whose text is laid out as the ledger prints it: the canonical payload, then what is not part
 * of it. There is less to read twice then. Undefined: it is laid out otherwise, which is as good.
 */
function openAsPrinted(json: string, { toHex }: Primitives): ParsedRecord | undefined {
  const end = json.length - AFTER_BYTES;
  const start = json.indexOf(TAIL[0]);
  if (start < 0 || !json.endsWith(TAIL[4])) return undefined;
  const tail = json.slice(end);
  const [hash, key, value] = [
    tail.slice(TAIL[1].length, TAIL[1].length + 64),
    tail.slice(TAIL[1].length + 64 + TAIL[2].length, -(TAIL[4].length + 128 + TAIL[3].length)),
    tail.slice(-(TAIL[4].length + 128), -TAIL[4].length),
  ];
  if (tail !== TAIL[1] + hash + TAIL[2] + key + TAIL[3] + value + TAIL[4]) return undefined;
  if (!HEX_64.test(hash) || !HEX_64.test(key) || !HEX_128.test(value)) return undefined;
  const payload = `${json.slice(0, start)}}`;
  const bytes = UTF_8.encode(payload);
  if (toHex(bytes) !== json.slice(start + TAIL[0].length, end)) return undefined;
  const fields = parseCanonicalFields(payload);
  if (fields?.get("schema_version") !== '"3.0"') return undefined;
  const outside = [...NOT_IN_PAYLOAD[3]].some((name) => fields.has(name));
  if (outside) return undefined;
  return { fields, bytes, canonical: true, hash, signature: { public_key: key, value } };
}

const HEX_64 = /^[0-9a-f]{64}$/;
const HEX_128 = /^[0-9a-f]{128}$/;

function judge(
  { fields, bytes, canonical, hash, signature }: ParsedRecord,
  era: Era,
  place: Place,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): Verdict {
  const link = linkReason(fields, place, era);
  if (era === 1) {
    const none = "not_applicable" as const;
    const checks = { hash: none, canonical: none, signature: none, link: outcome(link) };
    return verdict(checks, [link, strippedReason(fields)]);
  }
  const derived = canonical ? undefined : "The stored fields do not give the canonical bytes";
  const hashed = era === 2 || bytes.length > 0 && primitives.sha256(bytes) === hash
    ? undefined
    : "The hash is not that of the canonical bytes";
  const signed = signatureReason(signature, bytes, place.position, keys, primitives);
  const checks = {
    hash: era === 2 ? "not_applicable" as const : outcome(hashed),
    canonical: outcome(derived),
    signature: outcome(signed),
    link: outcome(link),
  };
  return verdict(checks, [derived, hashed, signed, link]);
}

const outcome = (reason: string | undefined): Check => reason === undefined ? "pass" : "fail";

function verdict(checks: Checks, reasons: readonly (string | undefined)[]): Verdict {
  const found = reasons.filter((reason) => reason !== undefined);
  return { verified: found.length === 0, checks, reasons: found };
}

/** An entry of era 1 has nothing to verify, so a later one must not pass for it by losing its version. */
function strippedReason(fields: ReadonlyMap<string, string>): string | undefined {
  const later = SINCE_ERA_2.find((name) => fields.has(name));
  return later && `It has no schema_version, and yet the field ${later}`;
}

const SINCE_ERA_2 = ["canonical_bytes", "signature", "chain_position"];

function eraOf(fields: ReadonlyMap<string, string>): Era | undefined {
  switch (fields.get("schema_version")) {
    case undefined:
      return 1;
    case '"2.0"':
      return 2;
    case '"3.0"':
      return 3;
    default:
      return undefined;
  }
}

function linkReason(
  fields: ReadonlyMap<string, string>,
  { position, previousHash, previousEra }: Place,
  era: Era,
): string | undefined {
  const prev = text(fields, "prev_hash");
  if (prev !== previousHash) {
    return prev === ""
      ? "prev_hash is empty, which only the first entry may have"
      : "prev_hash is not the hash of the entry before";
  }
  if (previousEra !== undefined && era < previousEra) {
    return `It is of era ${era}, and the entry before it of era ${previousEra}`; // which proves less
  }
  if (era === 3 && fields.get("chain_position") !== String(position)) {
    return `chain_position is ${fields.get("chain_position")}, at position ${position}`;
  }
  return undefined;
}

function signatureReason(
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

interface Signature {
  readonly public_key: string;
  readonly value: string;
}

function asSignature(json: string | undefined): Signature | undefined {
  const signature = json === undefined ? undefined : JSON.parse(json);
  if (signature?.algorithm !== "Ed25519" || typeof signature.public_key !== "string") {
    return undefined;
  }
  if (typeof signature.value !== "string" || !/^[0-9a-f]{128}$/.test(signature.value)) {
    return undefined;
  }
  if (signature.signs !== undefined && signature.signs !== "canonical_bytes") return undefined;
  if (Object.keys(signature).some((name) => !SIGNATURE_FIELDS.has(name))) return undefined;
  return signature;
}

/** Nothing covers the signature's own fields, so there is room for these only. */
const SIGNATURE_FIELDS = new Set(["algorithm", "public_key", "value", "signs"]);

/** The key that is trusted for a position: the last one that came before it. */
export function findTrustedKey(
  keys: readonly TrustedKey[],
  position: number,
): TrustedKey | undefined {
  return keys.findLast(({ fromPosition }) => fromPosition <= position);
}

function text(fields: ReadonlyMap<string, string>, name: string): string {
  const json = fields.get(name);
  if (!json?.startsWith('"')) return "";
  return json.includes("\\") ? JSON.parse(json) : json.slice(1, -1);
}

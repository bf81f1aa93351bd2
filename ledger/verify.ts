import { createHash } from "node:crypto";
import { canonicalFields, joinFields, NotCanonical } from "./canonical.ts";
import { verifyEd25519 } from "./_ed25519.ts";

/** What the rules of a receipt's era say of it. `null`: the era can't be checked in this respect. */
export interface Checks {
  /** SHA-256 of the canonical bytes is the stored hash. */
  readonly hash: boolean | null;
  /** The stored fields, written canonically, are the canonical bytes. */
  readonly canonical: boolean | null;
  /** The Ed25519 signature over the canonical bytes is right, and by a key trusted for this position. */
  readonly signature: boolean | null;
  /** `prev_hash` is the hash of the entry before, and the position is that in the chain. */
  readonly link: boolean;
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

/**
 * Verifies one receipt by the rules of its own era.
 *
 * @param json the record as it was exported, byte for byte: printing it again would lose `1.0`
 * @param keys in the order in which they came to be trusted
 */
export function verifyReceipt(json: string, place: Place, keys: readonly TrustedKey[]): Verdict {
  return verifyRecord(json, place, keys).verdict;
}

function verifyRecord(json: string, place: Place, keys: readonly TrustedKey[]) {
  let fields: Map<string, string>;
  try {
    fields = canonicalFields(json);
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return { verdict: unreadable(error.message), hash: "", era: place.previousEra };
  }
  const hash = text(fields, "hash_sha256");
  return {
    verdict: verifyFields(fields, place, keys),
    hash,
    era: eraOf(fields) ?? place.previousEra,
  };
}

function unreadable(reason: string): Verdict {
  const checks = { hash: false, canonical: false, signature: false, link: false };
  return { verified: false, checks, reasons: [reason] };
}

function verifyFields(
  fields: ReadonlyMap<string, string>,
  place: Place,
  keys: readonly TrustedKey[],
): Verdict {
  const era = eraOf(fields);
  if (era === undefined) return unreadable("The schema_version is not one that these rules know");
  const link = linkReason(fields, place, era);
  if (era === 1) {
    const checks = { hash: null, canonical: null, signature: null, link: !link };
    return verdict(checks, [link, strippedReason(fields)]);
  }

  const hex = text(fields, "canonical_bytes");
  const bytes = Buffer.from(hex, "hex");
  const wellFormed = hex.length > 0 && hex === bytes.toString("hex");
  const derived = joinFields([...fields].filter(([name]) => !NOT_IN_PAYLOAD[era].has(name)));
  const canonical = wellFormed && bytes.equals(Buffer.from(derived));
  const hash = era === 3 ? wellFormed && sha256(bytes) === text(fields, "hash_sha256") : null;
  const signature = signatureReason(fields, bytes, place.position, keys);
  return verdict({ hash, canonical, signature: !signature, link: !link }, [
    canonical ? undefined : "The stored fields do not give the canonical bytes",
    hash === false ? "The hash is not that of the canonical bytes" : undefined,
    signature,
    link,
  ]);
}

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
  { position, previousHash }: Place,
  era: 1 | 2 | 3,
) {
  const prev = text(fields, "prev_hash");
  if (prev !== previousHash) {
    return prev === ""
      ? "prev_hash is empty, which only the first entry may have"
      : "prev_hash is not the hash of the entry before";
  }
  if (era === 3 && fields.get("chain_position") !== String(position)) {
    return `chain_position is ${fields.get("chain_position")}, at position ${position}`;
  }
  return undefined;
}

function signatureReason(
  fields: ReadonlyMap<string, string>,
  bytes: Uint8Array,
  position: number,
  keys: readonly TrustedKey[],
): string | undefined {
  const signature = asSignature(fields.get("signature"));
  if (!signature) return "There is no Ed25519 signature over the canonical bytes";
  if (signature.public_key !== trustedAt(keys, position)?.publicKey) {
    return "It is signed by another key than the one published for this position";
  }
  const value = Buffer.from(signature.value, "hex");
  return verifyEd25519(signature.public_key, bytes, value)
    ? undefined
    : "The signature does not verify";
}

function asSignature(json: string | undefined): { public_key: string; value: string } | undefined {
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
export function trustedAt(keys: readonly TrustedKey[], position: number): TrustedKey | undefined {
  return keys.findLast(({ fromPosition }) => fromPosition <= position);
}

/**
 * Verifies a chain from its first entry.
 *
 * An entry is linked to the hash that its predecessor claims, so that one fault is reported once, where it is.
 *
 * @param records exported records, oldest first, byte for byte
 */
export async function verifyChain(
  records: Iterable<string> | AsyncIterable<string>,
  keys: readonly TrustedKey[],
): Promise<{ total: number; breaks: Break[] }> {
  const breaks: Break[] = [];
  let place: Place = { position: 0, previousHash: "" };
  for await (const json of records) {
    const { verdict, hash } = verifyRecord(json, place, keys);
    if (!verdict.verified) {
      breaks.push({ position: place.position, reason: verdict.reasons.join("; ") });
    }
    place = { position: place.position + 1, previousHash: hash };
  }
  return { total: place.position, breaks };
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function text(fields: ReadonlyMap<string, string>, name: string): string {
  const json = fields.get(name);
  return json?.startsWith('"') ? JSON.parse(json) : "";
}

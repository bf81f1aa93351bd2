import { joinFields } from "./canonical.ts";
import { canonicalizeFields, parseCanonicalFields } from "./canonical_text.ts";
import type { Era, Primitives } from "./types.ts";

/** Fields that the canonical bytes leave out. */
const NOT_IN_PAYLOAD = {
  3: new Set(["canonical_bytes", "signature", "hash_sha256"]),
  // The hash of era 2 was made before signing, and is itself a signed field.
  2: new Set(["canonical_bytes", "signature", "receiver_attestation", "prev_hash"]),
} as const;

/** The parts of a record, not verified yet. */
export interface ParsedRecord {
  readonly fields: ReadonlyMap<string, string>;
  /** `canonical_bytes`; empty where the field is missing or not hex. */
  readonly bytes: Uint8Array;
  /** True where the fields, written canonically, are the canonical bytes. */
  readonly isCanonical: boolean;
  readonly hash: string;
  readonly signature: Signature | undefined;
}

const UTF_8 = new TextEncoder();
const HEX_64 = /^[0-9a-f]{64}$/;
const HEX_128 = /^[0-9a-f]{128}$/;

/** Parses a record. @throws {NotCanonical} it is no JSON object */
export function parseRecord(json: string, primitives: Primitives): ParsedRecord {
  return parseAsPrinted(json, primitives) ?? parseAnyLayout(json, primitives);
}

function parseAnyLayout(json: string, { toHex, fromHex }: Primitives): ParsedRecord {
  const fields = canonicalizeFields(json);
  const hex = readText(fields, "canonical_bytes");
  const era = readEra(fields);
  const hash = readText(fields, "hash_sha256");
  const signature = parseSignature(fields.get("signature"));
  if (era === undefined || era === 1 || hex === "" || !/^(?:[0-9a-f]{2})+$/.test(hex)) {
    return { fields, bytes: new Uint8Array(), isCanonical: false, hash, signature };
  }
  const derived = joinFields([...fields].filter(([name]) => !NOT_IN_PAYLOAD[era].has(name)));
  const isCanonical = toHex(UTF_8.encode(derived)) === hex;
  return { fields, bytes: fromHex(hex), isCanonical, hash, signature };
}

/** Text around the canonical bytes, the hash, the key and the signature, as the ledger prints it. */
const TAIL = [
  ',"canonical_bytes":"',
  '","hash_sha256":"',
  '","signature":{"algorithm":"Ed25519","public_key":"',
  '","value":"',
  '","signs":"canonical_bytes"}}',
] as const;
/** Number of characters after the canonical bytes. */
const AFTER_BYTES = TAIL.slice(1).join("").length + 64 + 64 + 128;

/**
 * Parses a record of era 3 in the layout that the ledger prints: the canonical payload, then the other fields. That is
 * faster than parsing any layout, as the canonical bytes need not be built.
 *
 * @returns undefined for another layout, which is as valid
 */
function parseAsPrinted(json: string, { toHex }: Primitives): ParsedRecord | undefined {
  const end = json.length - AFTER_BYTES;
  const start = json.indexOf(TAIL[0]);
  if (start < 0 || !json.endsWith(TAIL[4])) return undefined;
  const tail = json.slice(end);
  const hash = tail.slice(TAIL[1].length, TAIL[1].length + 64);
  const key = tail.slice(TAIL[1].length + 64 + TAIL[2].length).slice(0, 64);
  const value = tail.slice(-(TAIL[4].length + 128), -TAIL[4].length);
  if (tail !== TAIL[1] + hash + TAIL[2] + key + TAIL[3] + value + TAIL[4]) return undefined;
  if (!HEX_64.test(hash) || !HEX_64.test(key) || !HEX_128.test(value)) return undefined;
  const payload = `${json.slice(0, start)}}`;
  const bytes = UTF_8.encode(payload);
  if (toHex(bytes) !== json.slice(start + TAIL[0].length, end)) return undefined;
  const fields = parseCanonicalFields(payload);
  if (fields?.get("schema_version") !== '"3.0"') return undefined;
  if ([...NOT_IN_PAYLOAD[3]].some((name) => fields.has(name))) return undefined;
  return { fields, bytes, isCanonical: true, hash, signature: { public_key: key, value } };
}

/** Returns the era that a record's `schema_version` names, or undefined. */
export function readEra(fields: ReadonlyMap<string, string>): Era | undefined {
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

/** An Ed25519 signature over the canonical bytes. */
export interface Signature {
  readonly public_key: string;
  readonly value: string;
}

function parseSignature(json: string | undefined): Signature | undefined {
  const signature = json === undefined ? undefined : JSON.parse(json);
  if (signature?.algorithm !== "Ed25519" || typeof signature.public_key !== "string") {
    return undefined;
  }
  if (typeof signature.value !== "string" || !HEX_128.test(signature.value)) {
    return undefined;
  }
  if (signature.signs !== undefined && signature.signs !== "canonical_bytes") return undefined;
  if (Object.keys(signature).some((name) => !SIGNATURE_FIELDS.has(name))) return undefined;
  return signature;
}

/** No hash covers the signature's own fields, so others could be added unseen. */
const SIGNATURE_FIELDS = new Set(["algorithm", "public_key", "value", "signs"]);

/** Returns the value of a text field, or an empty text. */
export function readText(fields: ReadonlyMap<string, string>, name: string): string {
  const json = fields.get(name);
  if (!json?.startsWith('"')) return "";
  return json.includes("\\") ? JSON.parse(json) : json.slice(1, -1);
}

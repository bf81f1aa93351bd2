import { isSameHash, type Primitives } from "../rules/mod.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";

/** A signer of notes. */
export interface NoteKey {
  /** No spaces, no plus. */
  readonly name: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** `log` signs the note; `witness` signs the note with a time (cosignature/v1). */
  readonly kind: "log" | "witness";
}

/** One signature line of a note. */
export interface NoteSignature {
  readonly name: string;
  /** 4 bytes. */
  readonly keyId: Uint8Array;
  readonly value: Uint8Array;
}

/** A note, not verified yet. */
export interface Note {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** Numbers of the signature types. @see C2SP signed-note */
const ALGORITHM = { log: 1, witness: 4 } as const;
const DASH = "\u2014 ";
const UTF_8 = new TextEncoder();

/** A text is not a note, or not a verifier key. */
export class BadNote extends Error {
  override readonly name = "BadNote";
}

/** Formats a signature line, with its line break. */
export function formatSignature(key: NoteKey, value: Uint8Array, primitives: Primitives): string {
  const bytes = Uint8Array.of(...computeKeyId(key, primitives), ...value);
  return `${DASH}${key.name} ${encodeBase64(bytes)}\n`;
}

/** Parses a note into its text and its signatures, without verifying them. @throws {BadNote} */
export function parseNote(note: string): Note {
  const at = note.lastIndexOf("\n\n");
  if (at < 0 || !note.endsWith("\n")) {
    throw new BadNote("A note is a text, an empty line, and signatures");
  }
  return { text: note.slice(0, at + 1), signatures: parseSignatures(note.slice(at + 2)) };
}

/** Parses signature lines. @throws {BadNote} */
export function parseSignatures(lines: string): NoteSignature[] {
  return lines.split("\n").slice(0, -1).map((line) => {
    const match = /^\u2014 ([^ +]+) ([A-Za-z0-9+/]+={0,2})$/.exec(line);
    const bytes = decodeBase64(match?.[2] ?? "");
    if (!match || !bytes || bytes.length < 5) {
      throw new BadNote(`Expected a signature line, not ${JSON.stringify(line.slice(0, 100))}`);
    }
    return { name: match[1]!, keyId: bytes.subarray(0, 4), value: bytes.subarray(4) };
  });
}

/**
 * Looks for a key's signature. It is `wrong` where a line has the key's name and id and does not verify: such a note must
 * not be believed, whatever else signs it.
 */
export function findSignature(
  note: Note,
  key: NoteKey,
  primitives: Primitives,
): "valid" | "wrong" | "none" {
  const id = computeKeyId(key, primitives);
  const own = note.signatures.filter(({ name, keyId }) =>
    name === key.name && isSameHash(keyId, id)
  );
  if (own.length === 0) return "none";
  return own.every(({ value }) => verifies(note.text, value, key, primitives)) ? "valid" : "wrong";
}

function verifies(
  text: string,
  value: Uint8Array,
  { kind, publicKey }: NoteKey,
  { toHex, verifyEd25519 }: Primitives,
): boolean {
  if (value.length !== (kind === "log" ? 64 : 72)) return false;
  const signed = kind === "log" ? text : `cosignature/v1\ntime ${readTime(value)}\n${text}`;
  return verifyEd25519(toHex(publicKey), UTF_8.encode(signed), value.slice(-64));
}

/** Reads the time of a cosignature, seconds since 1970. */
const readTime = (value: Uint8Array): bigint =>
  value.subarray(0, 8).reduce((time, byte) => time * 256n + BigInt(byte), 0n);

/** Formats a key as `name+id+base64`. */
export function formatVerifierKey(key: NoteKey, primitives: Primitives): string {
  const encoded = encodeBase64(Uint8Array.of(ALGORITHM[key.kind], ...key.publicKey));
  return `${key.name}+${primitives.toHex(computeKeyId(key, primitives))}+${encoded}`;
}

/** Parses a key of the form `name+id+base64`. @throws {BadNote} */
export function parseVerifierKey(text: string, primitives: Primitives): NoteKey {
  const match = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text);
  const bytes = decodeBase64(match?.[3] ?? "") ?? new Uint8Array();
  const kind = bytes[0] === ALGORITHM.log
    ? "log"
    : bytes[0] === ALGORITHM.witness
    ? "witness"
    : undefined;
  if (!match || !kind || bytes.length !== 33) {
    throw new BadNote(
      "A verifier key has the form name+id+key, of an Ed25519 key of a log or a witness",
    );
  }
  const key: NoteKey = { name: match[1]!, publicKey: bytes.subarray(1), kind };
  if (primitives.toHex(computeKeyId(key, primitives)) !== match[2]) {
    throw new BadNote(`The id in the key of ${key.name} belongs to another key`);
  }
  return key;
}

/** Returns the 4 bytes that identify a key. @see C2SP signed-note, tlog-cosignature */
function computeKeyId(
  { name, publicKey, kind }: NoteKey,
  { sha256, fromHex }: Primitives,
): Uint8Array {
  const hash = sha256(Uint8Array.of(...UTF_8.encode(`${name}\n`), ALGORITHM[kind], ...publicKey));
  return fromHex(hash.slice(0, 8));
}

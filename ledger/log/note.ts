import { createHash, type KeyObject, sign } from "node:crypto";
import { verifyEd25519 } from "../crypto/mod.ts";

/** The statement of a checkpoint about the log. */
export interface Checkpoint {
  readonly origin: string;
  /** Number of leaves. */
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

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
  readonly keyId: Buffer;
  readonly value: Buffer;
}

/** Numbers of the signature types. @see C2SP signed-note */
const ALGORITHM = { log: 1, witness: 4 } as const;
const DASH = "\u2014 ";

/** A text is not a note, or not a verifier key. */
export class BadNote extends Error {
  override readonly name = "BadNote";
}

/** Formats the text that is signed. @see C2SP tlog-checkpoint */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString("base64")}\n`;
}

/** Signs a note as the log. */
export function signNote(text: string, key: NoteKey, privateKey: KeyObject): string {
  return `${text}\n${formatSignature(key, sign(null, Buffer.from(text), privateKey))}`;
}

/** Formats a signature line, with its line break. */
export function formatSignature(key: NoteKey, value: Uint8Array): string {
  return `${DASH}${key.name} ${Buffer.concat([computeKeyId(key), value]).toString("base64")}\n`;
}

/** Parses a note into its text and its signatures, without verifying them. @throws {BadNote} */
export function parseNote(note: string): { text: string; signatures: NoteSignature[] } {
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
    const bytes = Buffer.from(match?.[2] ?? "", "base64");
    if (!match || bytes.length < 5) {
      throw new BadNote(`Expected a signature line, not ${JSON.stringify(line.slice(0, 100))}`);
    }
    return { name: match[1]!, keyId: bytes.subarray(0, 4), value: bytes.subarray(4) };
  });
}

/** Parses the text of a checkpoint. @throws {BadNote} */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin, size, root] = text.split("\n");
  const hash = Buffer.from(root ?? "", "base64");
  if (
    !origin || !/^(0|[1-9]\d{0,15})$/.test(size ?? "") || hash.length !== 32 ||
    hash.toString("base64") !== root
  ) {
    throw new BadNote("A checkpoint has the lines origin, size, and root in base64");
  }
  return { origin, size: Number(size), root: hash };
}

/** Returns true where a note has a valid signature by this key. */
export function isSignedBy(
  note: { text: string; signatures: readonly NoteSignature[] },
  key: NoteKey,
): boolean {
  const publicKey = Buffer.from(key.publicKey).toString("hex");
  return note.signatures.some(({ name, keyId: id, value }) => {
    if (name !== key.name || !id.equals(computeKeyId(key))) return false;
    if (key.kind === "log") return verifyEd25519(publicKey, Buffer.from(note.text), value);
    if (value.length !== 72) return false;
    const signed = `cosignature/v1\ntime ${value.readBigUInt64BE()}\n${note.text}`;
    return verifyEd25519(publicKey, Buffer.from(signed), value.subarray(8));
  });
}

/**
 * Returns the checkpoint in a note that the log's own key has signed, under whatever name.
 *
 * @throws {BadNote} it is not signed by this key
 */
export function parseOwnCheckpoint(note: string, publicKey: Uint8Array): Checkpoint {
  const parsed = parseNote(note);
  const checkpoint = parseCheckpoint(parsed.text);
  if (isSignedBy(parsed, { name: checkpoint.origin, publicKey, kind: "log" })) return checkpoint;
  throw new BadNote("The checkpoint is not signed by the log's key");
}

/** Formats a key as `name+id+base64`. */
export function formatVerifierKey(key: NoteKey): string {
  const encoded = Buffer.concat([Buffer.of(ALGORITHM[key.kind]), key.publicKey]).toString("base64");
  return `${key.name}+${computeKeyId(key).toString("hex")}+${encoded}`;
}

/** Parses a key of the form `name+id+base64`. @throws {BadNote} */
export function parseVerifierKey(text: string): NoteKey {
  const match = /^([^ +]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text);
  const bytes = Buffer.from(match?.[3] ?? "", "base64");
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
  if (computeKeyId(key).toString("hex") !== match[2]) {
    throw new BadNote(`The id in the key of ${key.name} belongs to another key`);
  }
  return key;
}

/** Returns the 4 bytes that identify a key. @see C2SP signed-note, tlog-cosignature */
function computeKeyId({ name, publicKey, kind }: NoteKey): Buffer {
  return createHash("sha256").update(`${name}\n`).update(Buffer.of(ALGORITHM[kind]))
    .update(publicKey).digest().subarray(0, 4);
}

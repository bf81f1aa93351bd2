import { type KeyObject, sign } from "node:crypto";
import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import {
  BadNote,
  type Checkpoint,
  findSignature,
  formatSignature as formatNoteSignature,
  formatVerifierKey as formatNoteKey,
  type Note,
  type NoteKey,
  parseCheckpoint,
  parseNote,
  parseVerifierKey as parseNoteKey,
} from "../notes/mod.ts";

/** Signs a note as the log. */
export function signNote(text: string, key: NoteKey, privateKey: KeyObject): string {
  return `${text}\n${formatSignature(key, sign(null, Buffer.from(text), privateKey))}`;
}

/** Formats a signature line, with its line break. */
export const formatSignature = (key: NoteKey, value: Uint8Array): string =>
  formatNoteSignature(key, value, NODE_PRIMITIVES);

/** Formats a key as `name+id+base64`. */
export const formatVerifierKey = (key: NoteKey): string => formatNoteKey(key, NODE_PRIMITIVES);

/** Parses a key of the form `name+id+base64`. @throws {BadNote} */
export const parseVerifierKey = (text: string): NoteKey => parseNoteKey(text, NODE_PRIMITIVES);

/** Returns true where a note has a valid signature by this key, and no wrong one. */
export const isSignedBy = (note: Note, key: NoteKey): boolean =>
  findSignature(note, key, NODE_PRIMITIVES) === "valid";

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

/**
 * Signed notes of a Merkle log in the published C2SP formats: checkpoints, their signatures, cosignatures of witnesses.
 *
 * ```ts
 * const note = parseNote(text);
 * const isSigned = findSignature(note, parseVerifierKey(key, primitives), primitives) === "valid";
 * ```
 *
 * Pure, so that the server, the command and the page in a browser read notes by the same lines.
 * @module
 * @see C2SP signed-note, tlog-checkpoint, tlog-cosignature
 */
export { type Checkpoint, formatCheckpoint, parseCheckpoint } from "./checkpoint.ts";
export {
  BadNote,
  findSignature,
  formatSignature,
  formatVerifierKey,
  type Note,
  type NoteKey,
  type NoteSignature,
  parseNote,
  parseSignatures,
  parseVerifierKey,
} from "./note.ts";

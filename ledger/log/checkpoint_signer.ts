import { loadSigningKey } from "../crypto/mod.ts";
import { isSameHash } from "../rules/mod.ts";
import { SignatureRefused, SignerStateError } from "../signer/mod.ts";
import { readIfPresent, writeDurably } from "./durable_file.ts";
import {
  BadNote,
  type Checkpoint,
  formatCheckpoint,
  type NoteKey,
  parseCheckpoint,
  parseNote,
} from "../notes/mod.ts";
import { parseOwnCheckpoint, signNote } from "./note.ts";
import { checkpointPath, type LogSettings } from "./settings.ts";

/** Signs checkpoints of one log, and remembers the newest. A key in hardware can be put behind the same calls. */
export interface CheckpointSigner {
  readonly key: NoteKey;
  /**
   * Writes a checkpoint to the disk, and returns it as a signed note.
   *
   * @throws {SignatureRefused} a larger one was signed, or one of this size with another root
   */
  sign(checkpoint: Pick<Checkpoint, "size" | "root">): Promise<string>;
}

/** Opens the signer whose key is `keyFile` and whose memory is `checkpointFile`. The key is created where there is none. */
export function openCheckpointSigner(
  { keyFile, checkpointFile, origin }: Pick<LogSettings, "keyFile" | "checkpointFile" | "origin">,
): CheckpointSigner {
  const { privateKey, publicKey } = loadSigningKey(keyFile);
  const key: NoteKey = { name: origin, publicKey, kind: "log" };
  return {
    key,
    async sign({ size, root }) {
      const note = await readIfPresent(checkpointFile);
      const last = note === undefined ? undefined : parseOwnCheckpoint(note, publicKey);
      if (last && (size < last.size || size === last.size && !isSameHash(root, last.root))) {
        throw new SignatureRefused(
          `Cannot sign a checkpoint of ${size} receipts: one of ${last.size} with another root was signed`,
        );
      }
      const signed = signNote(formatCheckpoint({ origin, size, root }), key, privateKey);
      if (signed !== note) await writeDurably(checkpointFile, signed);
      return signed;
    },
  };
}

/** Returns the size of the newest checkpoint that was signed in a data folder; 0: there is none. @throws {SignerStateError} */
export async function readSignedSize(folder: string): Promise<number> {
  const note = await readIfPresent(checkpointPath(folder));
  if (note === undefined) return 0;
  try {
    return parseCheckpoint(parseNote(note).text).size;
  } catch (cause) {
    if (!(cause instanceof BadNote)) throw cause;
    const message = "The file checkpoint of the data folder is damaged. Put it back from a backup";
    throw new SignerStateError(message, { cause });
  }
}

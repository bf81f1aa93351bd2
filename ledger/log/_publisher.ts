import type { Store } from "../../store/mod.ts";
import { sha256 } from "../crypto/mod.ts";
import { parseCheckpoint, parseNote } from "../notes/mod.ts";
import type { Hash } from "../rules/mod.ts";
import { openWitnesses } from "./_witnesses.ts";
import type { CheckpointSigner } from "./checkpoint_signer.ts";
import { readIfPresent } from "./durable_file.ts";
import { formatVerifierKey, isSignedBy } from "./note.ts";
import { recordPublishing } from "./publishing.ts";
import type { LogSettings } from "./settings.ts";
import { createHashReader, getPublishedCheckpoint, publishCheckpoint } from "./stored_log.ts";
import { buildConsistencyProof } from "./tiles.ts";

/** Parts of {@linkcode openPublisher}. */
export interface PublisherParts extends LogSettings {
  /** Store of role `sequencer`. */
  readonly store: Store;
  /** Called where a witness does not cosign. */
  readonly onTrouble: (error: unknown) => void;
}

/** Publishes checkpoints. */
export interface Publisher {
  /** Asks the witnesses for the last size that they saw, by the newest checkpoint that was signed. */
  greet(): Promise<void>;
  /**
   * Signs a checkpoint of a tree, has it cosigned, and publishes it.
   *
   * @returns false where fewer witnesses than the quorum have cosigned: nothing was published, and it is to be tried again
   */
  publish(size: number, root: Hash): Promise<boolean>;
}

/**
 * Opens the publisher of a log. Each checkpoint is signed, written to the checkpoint file, cosigned, and published, in this
 * order, so that nothing published can be forgotten.
 */
export function openPublisher(parts: PublisherParts, signer: CheckpointSigner): Publisher {
  const { store, origin, checkpointFile, witnessQuorum: quorum, onTrouble } = parts;
  const read = createHashReader(store);
  const witnesses = openWitnesses(parts.witnesses, quorum, onTrouble);

  const record = (size: number, isWaiting: boolean) =>
    recordPublishing(store, { size, quorum, isWaiting, witnesses: witnesses.states() });

  /** Returns true where a checkpoint of this log and size is published with enough cosignatures. */
  async function isPublished(size: number): Promise<boolean> {
    const published = await getPublishedCheckpoint(store);
    if (!published) return false;
    const note = parseNote(published.note);
    const checkpoint = parseCheckpoint(note.text);
    if (checkpoint.origin !== origin || checkpoint.size !== size) return false;
    return parts.witnesses.filter(({ key }) => isSignedBy(note, key)).length >= quorum;
  }

  return {
    async greet() {
      const note = await readIfPresent(checkpointFile);
      if (note === undefined) return;
      await witnesses.greet(note, parseCheckpoint(parseNote(note).text).size);
    },
    async publish(size, root) {
      if (await isPublished(size)) {
        await record(size, false);
        return true;
      }
      const note = await signer.sign({ size, root });
      const cosignatures = await witnesses.cosign({
        note,
        size,
        prove: (oldSize) => buildConsistencyProof(oldSize, size, read, sha256),
      });
      const isEnough = cosignatures.length >= quorum;
      if (isEnough) {
        await publishCheckpoint(store, {
          size,
          root: Buffer.from(root),
          note: note + cosignatures.join(""),
          verifierKey: formatVerifierKey(signer.key),
        });
      }
      await record(size, !isEnough);
      return isEnough;
    },
  };
}

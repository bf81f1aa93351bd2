import { createTimeoutSignal } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import { sha256 } from "../crypto/mod.ts";
import { parseCheckpoint, parseNote } from "../notes/mod.ts";
import type { Hash } from "../rules/mod.ts";
import type { CheckpointSigner } from "./checkpoint_signer.ts";
import { formatSignature, formatVerifierKey } from "./note.ts";
import type { LogSettings } from "./settings.ts";
import { createHashReader, getPublishedCheckpoint, publishCheckpoint } from "./stored_log.ts";
import { buildConsistencyProof } from "./tiles.ts";
import { cosign, type Witness } from "./witness.ts";

const WITNESS_TIMEOUT_MS = 5_000;

/** Parts of {@linkcode openPublisher}. */
export interface PublisherParts extends LogSettings {
  /** A store of role `sequencer`. */
  readonly store: Store;
  /** Called where a witness does not cosign. */
  readonly onTrouble: (error: unknown) => void;
}

/** Signs and publishes the checkpoint of a tree. */
export type Publish = (size: number, root: Hash) => Promise<void>;

/**
 * Returns the function that publishes checkpoints. Each is signed, written to the checkpoint file, cosigned, and
 * published, in this order, so that nothing published can be forgotten.
 */
export function openPublisher(parts: PublisherParts, signer: CheckpointSigner): Publish {
  const { store, origin, witnesses, onTrouble } = parts;
  const read = createHashReader(store);
  const cosignedSizes = new Map<Witness, number>();

  /** @returns a signature line; empty where the witness did not cosign */
  async function askWitness(witness: Witness, note: string, size: number): Promise<string> {
    const request = {
      note,
      size,
      prove: (oldSize: number) => buildConsistencyProof(oldSize, size, read, sha256),
      signal: createTimeoutSignal(WITNESS_TIMEOUT_MS),
    };
    try {
      const { value } = await cosign(witness, request, cosignedSizes.get(witness));
      cosignedSizes.set(witness, size);
      return formatSignature(witness.key, value);
    } catch (error) {
      onTrouble(error);
      return "";
    }
  }

  return async (size, root) => {
    const published = await getPublishedCheckpoint(store);
    if (published && isOf(published.note, { origin, size })) return;
    const note = await signer.sign({ size, root });
    const cosignatures = await Promise.all(
      witnesses.map((witness) => askWitness(witness, note, size)),
    );
    await publishCheckpoint(store, {
      size,
      root: Buffer.from(root),
      note: note + cosignatures.join(""),
      verifierKey: formatVerifierKey(signer.key),
    });
  };
}

function isOf(note: string, { origin, size }: { origin: string; size: number }): boolean {
  const checkpoint = parseCheckpoint(parseNote(note).text);
  return checkpoint.origin === origin && checkpoint.size === size;
}

import { sha256 } from "../crypto/mod.ts";
import { isSignedBy, parseCheckpoint, parseNote, parseVerifierKey } from "../log/mod.ts";
import { createGrowingTree, type Hash, isSameHash } from "../rules/mod.ts";

/** A signed checkpoint, and the key that it must be signed by. */
export interface SignedCheckpoint {
  /** A C2SP tlog-checkpoint. */
  readonly note: string;
  /** Key of the Merkle log, as `name+id+key`. */
  readonly verifierKey: string;
}

/** Comparison of a chain with a checkpoint, while the chain is read. */
export interface CheckpointCheck {
  /** Number of receipts that the checkpoint covers. */
  readonly size: number;
  /** Adds the next leaves, beginning with the first. */
  add(leaves: readonly Hash[]): void;
  /** Returns, at the end, where and why the chain differs from what was signed, or undefined. */
  problem(): { readonly position: number; readonly reason: string } | undefined;
}

/**
 * Opens a comparison with a checkpoint.
 *
 * @throws {BadNote} checkpoint or key can't be parsed
 * @throws {RangeError} the checkpoint is of another log, or not signed by its key
 */
export function openCheckpointCheck({ note, verifierKey }: SignedCheckpoint): CheckpointCheck {
  const key = parseVerifierKey(verifierKey);
  const parsed = parseNote(note);
  const { origin, size, root } = parseCheckpoint(parsed.text);
  if (origin !== key.name) {
    throw new RangeError(`The checkpoint is of the log ${origin}, and the key of ${key.name}`);
  }
  if (!isSignedBy(parsed, key)) {
    throw new RangeError(`The checkpoint is not signed by the key of ${key.name}`);
  }
  const tree = createGrowingTree(sha256);
  return {
    size,
    add(leaves) {
      for (const leaf of leaves) if (tree.size < size) tree.add(leaf);
    },
    problem() {
      if (size === 0) return undefined;
      if (tree.size < size) {
        const reason = `Missing: a checkpoint of ${size} receipts was signed`;
        return { position: tree.size, reason };
      }
      if (isSameHash(tree.root(), root)) return undefined;
      const reason = `Up to here it is not what the checkpoint of ${size} receipts was signed of`;
      return { position: size - 1, reason };
    },
  };
}

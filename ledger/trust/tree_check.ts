import type { Checkpoint } from "../notes/mod.ts";
import { type Break, createGrowingTree, type Hash, isSameHash, type Sha256 } from "../rules/mod.ts";

/** Comparison of a chain with checkpoints, while the chain is read. */
export interface TreeCheck {
  /** Adds the next leaves, beginning with the first. */
  add(leaves: readonly Hash[]): void;
  /** Returns where and why the chain differs from what was signed, as far as it was read. */
  differing(): Break[];
  /** Returns, at the end, which checkpoints are of more receipts than there are. */
  missing(): Break[];
}

/** Opens a comparison with checkpoints, which may be of different sizes. */
export function createTreeCheck(checkpoints: readonly Checkpoint[], sha256: Sha256): TreeCheck {
  const waiting = checkpoints.toSorted((a, b) => a.size - b.size);
  const tree = createGrowingTree(sha256);
  const differing: Break[] = [];

  function compare(): void {
    for (let next = waiting[0]; next && next.size === tree.size; next = waiting[0]) {
      waiting.shift();
      const { size, root } = next;
      if (isSameHash(size === 0 ? sha256(new Uint8Array()) : tree.root(), root)) continue;
      const reason = `Up to here it is not what the checkpoint of ${size} receipts was signed of`;
      differing.push({ position: Math.max(0, size - 1), reason });
    }
  }

  compare();
  return {
    add(leaves) {
      for (const leaf of leaves) {
        if (waiting.length === 0) return;
        tree.add(leaf);
        compare();
      }
    },
    differing: () => [...differing],
    missing: () =>
      waiting.map(({ size }) => ({
        position: tree.size,
        reason: `Missing: a checkpoint of ${size} receipts was signed`,
      })),
  };
}

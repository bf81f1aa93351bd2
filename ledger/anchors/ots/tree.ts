import { sha256 } from "@noble/hashes/sha2.js";
import { concat } from "./_bytes.ts";
import type { Op } from "./operation.ts";

/** Leaves whose common root is kept, so that the path of one leaf needs no more than these and the roots. */
export const SUBTREE_SIZE = 1024;

/** SHA-256; a caller that has a faster one than that of this module can give it. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/**
 * Root of the aggregation tree: neighbours are joined by SHA-256, level by level; an odd one out goes up as it is.
 *
 * So the tree of a long list is the tree over the roots of its pieces of {@linkcode SUBTREE_SIZE}.
 *
 * @param leaves at least one, 32 bytes each
 */
export function treeRoot(leaves: readonly Uint8Array[], hash: Sha256 = sha256): Uint8Array {
  let level = leaves;
  while (level.length > 1) level = joined(level, hash);
  return level[0]!;
}

/** Operations that lead from a leaf to the root. @param index of the leaf, from 0 */
export function treePath(
  leaves: readonly Uint8Array[],
  index: number,
  hash: Sha256 = sha256,
): Op[] {
  const ops: Op[] = [];
  let level = leaves;
  for (let at = index; level.length > 1; at >>= 1) {
    const sibling = level[at ^ 1];
    if (sibling) {
      ops.push({ kind: at & 1 ? "prepend" : "append", arg: sibling }, { kind: "sha256" });
    }
    level = joined(level, hash);
  }
  return ops;
}

function joined(level: readonly Uint8Array[], hash: Sha256): Uint8Array[] {
  const next: Uint8Array[] = [];
  for (let i = 0; i < level.length; i += 2) {
    const [left, right] = [level[i]!, level[i + 1]];
    next.push(right ? hash(concat(left, right)) : left);
  }
  return next;
}

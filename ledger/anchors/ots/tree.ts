import { sha256 } from "@noble/hashes/sha2.js";
import { concat } from "./_bytes.ts";
import type { Op } from "./operation.ts";

/** Leaves of one subtree. The path of a leaf needs only the leaves of its subtree and the roots of all subtrees. */
export const SUBTREE_SIZE = 1024;

/** SHA-256 of bytes. Callers can pass an implementation that is faster than this module's. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/**
 * Computes the root of the aggregation tree. Neighbours are joined by SHA-256, level by level; an odd one moves up
 * unchanged. So the root of a long list is the root over the roots of its pieces of {@linkcode SUBTREE_SIZE}.
 *
 * @param leaves at least one, 32 bytes each
 */
export function treeRoot(leaves: readonly Uint8Array[], hash: Sha256 = sha256): Uint8Array {
  let level = leaves;
  while (level.length > 1) level = joinNeighbours(level, hash);
  return level[0]!;
}

/** Lists the operations that lead from a leaf to the root. @param index of the leaf, from 0 */
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
    level = joinNeighbours(level, hash);
  }
  return ops;
}

function joinNeighbours(level: readonly Uint8Array[], hash: Sha256): Uint8Array[] {
  const next: Uint8Array[] = [];
  for (let i = 0; i < level.length; i += 2) {
    const [left, right] = [level[i]!, level[i + 1]];
    next.push(right ? hash(concat(left, right)) : left);
  }
  return next;
}

import type {
  ApprovalStatement,
  ListPlace,
  ListStatement,
  SignedStatement,
} from "../../contract/domain/mod.ts";
import {
  canonicalize,
  computeInclusionRoot,
  computeRoot,
  type Hash,
  hashLeaf,
  hashNode,
  type Primitives,
  type Sha256,
} from "../rules/mod.ts";
import { PasskeyError } from "./_error.ts";
import { challengeOf } from "./statement.ts";

/** Form of a hash in a path. */
const HASH = /^[0-9a-f]{64}$/;

type Hashing = Pick<Primitives, "sha256" | "fromHex" | "toHex">;

/**
 * Returns the statement by which a person approves everything in a list at once. Its root is that of the Merkle tree over
 * the canonical JSON of the single statements, in their order, so that each can be proven without the others.
 *
 * @param statements at least one
 * @see RFC 6962 §2.1
 */
export function listStatementOf(
  primitives: Hashing,
  statements: readonly ApprovalStatement[],
  nonce: string,
): ListStatement {
  const hash = hashOf(primitives);
  const root = computeRoot(leavesOf(statements, hash), hash);
  return {
    version: 1,
    move: "approved",
    size: statements.length,
    root: primitives.toHex(root),
    nonce,
  };
}

/** Returns the place of each statement in a list, in their order. */
export function placesIn(
  primitives: Hashing,
  statements: readonly ApprovalStatement[],
  nonce: string,
): ListPlace[] {
  const hash = hashOf(primitives);
  const rows = rowsOver(leavesOf(statements, hash), hash);
  const statement = listStatementOf(primitives, statements, nonce);
  return statements.map((_, index) => ({
    statement,
    index,
    path: rows.flatMap((row, level) => {
      const sibling = row[Math.floor(index / 2 ** level) ^ 1];
      return sibling ? [primitives.toHex(sibling)] : [];
    }),
  }));
}

/**
 * Returns what a passkey was given to sign about an approval: the challenge of its statement; where it was approved within
 * a list, that of the list's, in which the statement is proven to be.
 *
 * @throws {PasskeyError} `list`: the list does not have it
 */
export function signedChallenge(
  primitives: Hashing,
  { statement, list }: Pick<SignedStatement, "statement" | "list">,
): string {
  if (!list) return challengeOf(primitives, statement);
  const { statement: { size, root }, index, path } = list;
  const hash = hashOf(primitives);
  const [leafHash] = leavesOf([statement], hash) as [Hash];
  const proof = path.every((one) => HASH.test(one)) ? path.map(primitives.fromHex) : undefined;
  const found = proof && computeInclusionRoot({ leafHash, index, size, proof }, hash);
  if (!found || primitives.toHex(found) !== root) {
    throw new PasskeyError("list", `${statement.approval} is not so in the list that was signed`);
  }
  return challengeOf(primitives, list.statement);
}

const hashOf = ({ sha256, fromHex }: Hashing): Sha256 => (bytes) => fromHex(sha256(bytes));

function leavesOf(statements: readonly ApprovalStatement[], hash: Sha256): Hash[] {
  const encoder = new TextEncoder();
  return statements.map((one) => hashLeaf(encoder.encode(canonicalize(one)), hash));
}

/** Returns the rows of a tree below its root, from the leaves up. A hash without a sibling stands in the row above too. */
function rowsOver(leaves: readonly Hash[], hash: Sha256): (readonly Hash[])[] {
  const rows: (readonly Hash[])[] = [];
  for (let row = leaves; row.length > 1;) {
    rows.push(row);
    const above: Hash[] = [];
    for (let n = 0; n < row.length; n += 2) {
      const right = row[n + 1];
      above.push(right ? hashNode(row[n]!, right, hash) : row[n]!);
    }
    row = above;
  }
  return rows;
}

/**
 * People who have signed in to the console: their sessions, their passkeys, and what these sign.
 *
 * ```ts
 * const operations = [...approvalOperations, ...peopleOperations];
 * ```
 * @module
 */
import { approveList, denyList, listStatement } from "./lists.ts";
import { enrolPasskey, passkeyChallenge, passkeyList, revokeOwnPasskey } from "./passkeys.ts";
import { sessionInfo, signIn, signOut } from "./session.ts";
import { approvalStatement } from "./statement.ts";

/** Operations of this folder, all of them beyond the contract. */
export const peopleOperations = [
  signIn,
  sessionInfo,
  signOut,
  passkeyList,
  passkeyChallenge,
  enrolPasskey,
  revokeOwnPasskey,
  approvalStatement,
  listStatement,
  approveList,
  denyList,
];

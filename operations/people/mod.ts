/**
 * People who have signed in to the console: how they do, their sessions, their passkeys, and what these sign.
 *
 * ```ts
 * const operations = [...approvalOperations, ...peopleOperations];
 * ```
 * @module
 */
import { approveList, denyList, listStatement } from "./lists.ts";
import { enrolPasskey, passkeyChallenge, passkeyList, revokeOwnPasskey } from "./passkeys.ts";
import { beginSignIn, endSignIn, signInWays } from "./provider.ts";
import { providerSignOut } from "./provider_sign_out.ts";
import { sessionInfo, signIn, signOut } from "./session.ts";
import { approvalStatement } from "./statement.ts";

export { openAccessTokens } from "./access_tokens.ts";
export { peopleFileSchema } from "./people_file.ts";
export { checkPeopleFile, followPeopleFile } from "./people_file_in_force.ts";

/** Operations of this folder, all of them beyond the contract. */
export const peopleOperations = [
  signInWays,
  signIn,
  beginSignIn,
  endSignIn,
  sessionInfo,
  providerSignOut,
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

/**
 * How people sign in: links that work once, an identity provider, sessions, and passkeys.
 *
 * ```ts
 * const session = await findSession(db, token);
 * ```
 * @module
 */
export {
  findPasskey,
  getChallenge,
  hadPasskey,
  listPasskeys,
  newChallengeId,
  notePasskeyUse,
  type PasskeyRecord,
  putChallenge,
  putPasskey,
  revokePasskey,
  takeChallenge,
} from "./passkeys.ts";
export {
  changePersonKey,
  getPersonKey,
  isKeyOfPerson,
  listPeople,
  noteIdentity,
  type PersonKey,
  type PersonRecord,
  type ProviderIdentity,
  putPerson,
} from "./people.ts";
export { putProviderSignIn, takeProviderSignIn } from "./provider_sign_ins.ts";
export { pruneSignIns } from "./retention.ts";
export {
  endSession,
  findIdToken,
  findSession,
  isSessionOpen,
  putSession,
  putSignInLink,
  takeSignInLink,
} from "./sessions.ts";

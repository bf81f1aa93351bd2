/**
 * How people sign in: links that work once, sessions, and passkeys.
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
export { pruneSignIns } from "./retention.ts";
export {
  endSession,
  findSession,
  isSessionOpen,
  putSession,
  putSignInLink,
  takeSignInLink,
} from "./sessions.ts";

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
  hadPasskey,
  listPasskeys,
  newChallengeId,
  type NewPasskey,
  notePasskeyUse,
  type PasskeyChallenge,
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
  putSession,
  putSignInLink,
  type Session,
  takeSignInLink,
} from "./sessions.ts";

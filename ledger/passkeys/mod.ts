/**
 * Passkeys of people, and what they sign when they approve: a statement over exactly the lines that they were shown. Pure, so
 * that the gateway, browsers and verifiers run the same code.
 *
 * ```ts
 * const lines = shownLines(approval);
 * await verifyAssertion(assertion, passkey, { challenge: challengeOf(statement), rpId, origins });
 * ```
 *
 * A signature proves that this credential, with user verification, signed exactly this text; not what eyes saw.
 *
 * @see W3C Web Authentication, level 3
 * @module
 */
export { type Expected, PasskeyError, verifyAssertion } from "./assertion.ts";
export { grantLines, grantStatementOf } from "./grant.ts";
export { listStatementOf, placesIn, signedChallenge } from "./list.ts";
export { compareLines, DIFFERS } from "./compare.ts";
export { ALGORITHMS } from "./public_key.ts";
export { verifyRegistration } from "./registration.ts";
export { type ShownApproval, type ShownCall, shownCallLines, shownLines } from "./shown.ts";
export { callStatementOf, challengeOf, type StatedApproval, statementOf } from "./statement.ts";

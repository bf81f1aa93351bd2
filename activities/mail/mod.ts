/**
 * Activities of mail: send one, and take in what has come.
 *
 * ```ts
 * const { transmitEmail } = transmitEmailActivities(parts);
 * ```
 *
 * @module
 */
export { transmitEmailActivities } from "./attempt.ts";
export { endEmailActivities } from "./end.ts";
export { mailboxActivities } from "./mailbox.ts";
export { mailKind } from "./open.ts";
export { prepareEmailActivities } from "./prepare.ts";
export { replyActivities } from "./reply.ts";
export { sequenceActivities } from "./sequence.ts";

/**
 * Activities of mail: send one, and take in what has come.
 *
 * ```ts
 * const { transmitEmail, sealEmail } = emailActivities(parts);
 * ```
 *
 * @module
 */
export { emailActivities, type EmailApproval, type EmailAttempt, type EmailOrder } from "./send.ts";
export { endedEmailActivities } from "./ended.ts";
export { mailboxActivities } from "./mailbox.ts";
export { replyActivities } from "./reply.ts";
export { resumeEmailActivities } from "./resume.ts";
export { sequenceActivities } from "./sequence.ts";

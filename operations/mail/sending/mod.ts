/**
 * Mail: its review, the one way in which it is sent, and the links by which recipients opt out or in.
 *
 * ```ts
 * const { email_id, state } = await sendMail(platform, { id, kind: "mail", to, subject, body, askedBy, askedByKey });
 * ```
 *
 * @module
 */
export { sendConfirmation } from "./confirmation.ts";
export { emailAction, groundsOfEmail } from "./held.ts";
export { confirmConsent, MAIL_LINKS, type MailLink, readMailLink, unsubscribe } from "./links.ts";
export { receiveMail } from "./receive.ts";
export { reviewText } from "./review.ts";
export {
  checkMail,
  emailIdOf,
  type MailOrder,
  type MailParts,
  sendMail,
  SENDS_MAIL,
  type SentMail,
  startSending,
} from "./send.ts";

/**
 * Mail: composing it, handing it over to a server, and receiving what is for this machine.
 *
 * ```ts
 * const bytes = await composeMail({ from, to, subject, text, messageId });
 * const { state } = await transmitMail(findServer(to, config)!, { from, to, bytes }, noteThatItEnds);
 * ```
 *
 * Doesn't trust: servers, and whoever writes mail to us.
 * @module
 */
export { type MailAddress, parseAddress } from "./addresses.ts";
export { composeMail, HeaderInjection, type MailDraft } from "./compose.ts";
export { readMailbox } from "./imap.ts";
export { isInMailbox, mailboxFolder } from "./maildir.ts";
export { newWords, parseMail, type ReceivedMail } from "./parse.ts";
export { readMail } from "./read_mail.ts";
export { keepReceivingMail, type MailReceiver, startReceiver } from "./receiver.ts";
export { BadMailSetting, findServer, isLocalAddress, type MailServer } from "./route.ts";
export { type MailRules, readMailRules, type Sequence } from "./rules.ts";
export { type Transmission, transmitMail } from "./transmit.ts";

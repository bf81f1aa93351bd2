import PostalMime, { type Email } from "postal-mime";
import { stripInvisible } from "../../contract/mod.ts";
import { type MailAddress, parseAddress } from "./addresses.ts";

/** Most characters of a text that are kept. */
const MAX_TEXT = 20_000;
const MAX_SUBJECT = 400;
const MAX_REFERENCES = 50;

/** A received mail. All of it is the word of whoever sent it. */
export interface ReceivedMail {
  /** Undefined: it has no sender that could be answered. */
  readonly from: MailAddress | undefined;
  readonly subject: string;
  /** Plain text; of HTML, its words. */
  readonly text: string;
  /** Without angle brackets; empty: it has none. */
  readonly messageId: string;
  /** Message-IDs of the mails that it answers, oldest first, without angle brackets. */
  readonly references: readonly string[];
  /** Why nobody may be answered by a program; undefined: a person seems to have written it. */
  readonly notToAnswer: NotToAnswer | undefined;
}

/** A reason not to answer a mail by a program. @see RFC 3834, section 2 */
export type NotToAnswer = "auto_submitted" | "list" | "bounce" | "no_sender";

/**
 * Parses a mail.
 *
 * @param envelopeFrom the sender that SMTP named; empty for a bounce, undefined where it is not known
 * @throws {Error} it is no mail, or is built to exhaust its reader
 */
export async function parseMail(bytes: Buffer, envelopeFrom?: string): Promise<ReceivedMail> {
  const mail = await PostalMime.parse(bytes, {
    maxNestingDepth: 30,
    maxHeadersSize: 256 * 1024,
    rfc822Attachments: true,
    forceRfc822Attachments: true,
  });
  const sender = mail.replyTo?.[0]?.address ?? mail.from?.address;
  const from = sender === undefined ? undefined : parseAddress(sender);
  return {
    from,
    subject: clean(mail.subject ?? "", MAX_SUBJECT).replace(/\s+/g, " "),
    text: clean(mail.text ?? wordsOf(mail.html ?? ""), MAX_TEXT),
    messageId: idsIn(mail.messageId)[0] ?? "",
    references: [...new Set([...idsIn(mail.references), ...idsIn(mail.inReplyTo)])].slice(
      -MAX_REFERENCES,
    ),
    notToAnswer: reasonOf(mail, from, envelopeFrom),
  };
}

/** Returns the words that somebody has added to a thread: without the mails that are quoted below them. */
export function newWords(text: string): string {
  const lines = text.split("\n");
  const quoted = lines.findIndex((line, at) =>
    /^>/.test(line) || /^-{2,}\s*(original message|ursprüngliche nachricht)/i.test(line) ||
    /^-- $/.test(line) || /\b(wrote|schrieb|a écrit|escribió):\s*$/i.test(line) && at > 0
  );
  return (quoted === -1 ? lines : lines.slice(0, quoted)).join("\n").trim();
}

function reasonOf(
  { headers }: Email,
  from: MailAddress | undefined,
  envelopeFrom: string | undefined,
): NotToAnswer | undefined {
  const has = (name: string) => headers.some(({ key }) => key === name);
  const value = (name: string) => headers.find(({ key }) => key === name)?.value.trim() ?? "";
  const isBounce = envelopeFrom === "" || /^<\s*>$/.test(value("return-path")) ||
    /^multipart\/report/i.test(value("content-type")) ||
    /^(mailer-daemon|postmaster)@/i.test(from?.text ?? "");
  if (isBounce) return "bounce";
  const submitted = value("auto-submitted").toLowerCase();
  const isAutomatic = submitted !== "" && !/^no(\s*;|$)/.test(submitted) ||
    has("x-autoreply") || has("x-autorespond") || has("x-auto-response-suppress");
  if (isAutomatic) return "auto_submitted";
  const isList = /^(bulk|list|junk)$/i.test(value("precedence")) ||
    headers.some(({ key }) => /^list-/.test(key));
  if (isList) return "list";
  return from === undefined || /^(no-?reply|do-?not-?reply)[@+]/i.test(from.text)
    ? "no_sender"
    : undefined;
}

function clean(text: string, length: number): string {
  return stripInvisible(text.toWellFormed()).trim().slice(0, length);
}

function idsIn(field: string | undefined): string[] {
  return [...(field ?? "").matchAll(/<([^<>\s]{1,250})>/g)].map(([, id]) => id!);
}

/** Returns the words of HTML, in time that grows with its length alone: whoever sends it chooses it. */
function wordsOf(html: string): string {
  return dropUnread(html.slice(0, 10 * MAX_TEXT))
    .replace(/<(br|\/p|\/div|\/tr|\/li)\b[^<>]*>/gi, "\n")
    .replace(/<[^<>]*>/g, " ")
    .replace(/&nbsp;/gi, " ").replace(/&lt;/gi, "<").replace(/&gt;/gi, ">").replace(/&amp;/gi, "&")
    .replace(/[ \t]+/g, " ");
}

/** Takes out the elements that nobody reads. One that is not closed ends with the text. */
function dropUnread(html: string): string {
  const lower = html.toLowerCase();
  const opening = /<(script|style|head)\b/g;
  const kept: string[] = [];
  let at = 0;
  for (let found = opening.exec(lower); found; found = opening.exec(lower)) {
    kept.push(html.slice(at, found.index), " ");
    const closing = lower.indexOf(`</${found[1]}`, found.index);
    if (closing === -1) return kept.join("");
    at = opening.lastIndex = closing;
  }
  return kept.join("") + html.slice(at);
}

import { parseApart, type Refusal } from "../strangers/mod.ts";
import type { NotToAnswer } from "./_automatic.ts";
import { countMail, headOf } from "./_count_mail.ts";
import type { MailAddress } from "./addresses.ts";
import { MailContent } from "./read_mail.ts";

/** A received mail. All of it is the word of whoever sent it. */
export interface ReceivedMail {
  /** Null: it has no sender that could be answered. */
  readonly from: MailAddress | null;
  readonly subject: string;
  /** Plain text; of HTML, its words. */
  readonly text: string;
  /** Without angle brackets; empty: it has none. */
  readonly messageId: string;
  /** Message-IDs of the mails that it answers, oldest first, without angle brackets. */
  readonly references: readonly string[];
  /** Why nobody may be answered by a program; null: a person seems to have written it. */
  readonly notToAnswer: NotToAnswer | null;
  /** Why it was not read, but for its head; null: it was. */
  readonly refusal: Refusal | null;
}

const UNKNOWN: Omit<ReceivedMail, "refusal"> = {
  from: null,
  subject: "",
  text: "",
  messageId: "",
  references: [],
  notToAnswer: null,
};

/**
 * Parses a mail, apart. Of one that is refused the head alone is read, where that can be.
 *
 * @param envelopeFrom the sender that SMTP named; empty for a bounce, undefined where it is not known
 * @throws {Problem} `Unavailable`: it can't be parsed now
 */
export async function parseMail(bytes: Buffer, envelopeFrom?: string): Promise<ReceivedMail> {
  const parameters = { envelopeFrom: envelopeFrom ?? null };
  const read = (part: Buffer) => parseApart("mail", { bytes: part, parameters }, MailContent);
  const counted = countMail(bytes);
  const parsed = counted ? { refusal: counted } : await read(bytes);
  if ("value" in parsed) return { ...parsed.value, refusal: null };
  const head = await read(headOf(bytes));
  return { ...("value" in head ? head.value : UNKNOWN), text: "", refusal: parsed.refusal };
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

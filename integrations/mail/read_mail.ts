/** The parser of mail. It runs in a process of the pool alone, through {@linkcode parseMail}. */
import PostalMime, { type Email, type PostalMimeOptions } from "postal-mime";
import { z } from "zod";
import { stripInvisible } from "../../contract/mod.ts";
import { NOT_TO_ANSWER, reasonNotToAnswer } from "./_automatic.ts";
import { decodeText } from "./_charset.ts";
import { headOf } from "./_count_mail.ts";
import { decodeWords } from "./_encoded_words.ts";
import { wordsOf } from "./_html.ts";
import { parseAddress } from "./addresses.ts";

/** Most characters of a text that are kept. */
const MAX_TEXT = 20_000;
const MAX_SUBJECT = 400;
const MAX_REFERENCES = 50;
/** Bytes of a text that are decoded. */
const MAX_PART_BYTES = 200 * 1024;
/** Bytes that a line counts besides its own: short ones cost more than they have. */
const LINE_BYTES = 16;
const DASH = 0x2d;
/** Bytes of HTML in which it may name its charset. */
const MAX_META_BYTES = 2_048;
const META_CHARSET = /charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i;

const Address = z.strictObject({
  local: z.string(),
  domain: z.string(),
  text: z.string(),
  key: z.string(),
});
/** Answer of the parser. `from`: null where it has no sender that could be answered. */
export const MailContent = z.strictObject({
  from: Address.nullable(),
  subject: z.string().max(MAX_SUBJECT),
  text: z.string().max(MAX_TEXT),
  messageId: z.string().max(250),
  references: z.array(z.string().max(250)).max(MAX_REFERENCES),
  notToAnswer: z.enum(NOT_TO_ANSWER).nullable(),
});

/** Parameters of the parser. */
const MailParameters = z.strictObject({
  /** Sender that SMTP named; empty for a bounce, null where it is not known. */
  envelopeFrom: z.string().nullable(),
});

/** A part of a mail, as the library has it. */
interface MailPart {
  readonly state: string;
  content: ArrayBuffer | null;
  readonly contentType: {
    readonly parsed: { readonly value: string; readonly params: Record<string, string> };
  };
}
interface PartCollector {
  readonly currentNode: MailPart;
  readonly boundaries: readonly { readonly value: Uint8Array }[];
  processLine(line: Uint8Array, isFinal: boolean): Promise<void>;
  collectNode(part: MailPart, ...rest: unknown[]): Promise<void>;
}
const Collector = PostalMime as unknown as new (
  options: PostalMimeOptions,
) => PostalMime & PartCollector;

/**
 * Reads texts alone, and as much of each as is needed: attachments cost time and memory. Puts each text into UTF-8 before
 * the library reads it, which would believe every label.
 */
class MailReader extends Collector {
  readonly #sizes = new WeakMap<MailPart, number>();

  override async processLine(line: Uint8Array, isFinal: boolean): Promise<void> {
    const part = this.currentNode;
    const isBody = part.state === "body" && !isFinal && !this.#isBoundary(line);
    if (isBody && !this.#isNeeded(part, line.length + LINE_BYTES)) return;
    await super.processLine(line, isFinal);
  }

  #isBoundary(line: Uint8Array): boolean {
    return line[0] === DASH && line[1] === DASH &&
      this.boundaries.some(({ value }) =>
        Buffer.compare(value, line.subarray(2, 2 + value.length)) === 0
      );
  }

  #isNeeded(part: MailPart, length: number): boolean {
    const size = (this.#sizes.get(part) ?? 0) + length;
    this.#sizes.set(part, size);
    return size <= MAX_PART_BYTES && part.contentType.parsed.value.startsWith("text/");
  }

  override async collectNode(part: MailPart, ...rest: unknown[]): Promise<void> {
    const { value, params } = part.contentType.parsed;
    if (part.content && value.startsWith("text/")) {
      const bytes = new Uint8Array(part.content);
      const text = decodeText(bytes, params.charset || metaCharset(value, bytes));
      part.content = new Uint8Array(Buffer.from(text)).buffer;
      params.charset = "utf-8";
    }
    await super.collectNode(part, ...rest);
  }
}

/**
 * Parses a mail.
 *
 * @throws {Error} it is no mail, or is built to exhaust its reader
 */
export async function readMail(
  bytes: Buffer,
  parameters: unknown,
): Promise<z.input<typeof MailContent>> {
  const { envelopeFrom } = MailParameters.parse(parameters);
  const reader = new MailReader({
    maxNestingDepth: 30,
    maxHeadersSize: 256 * 1024,
    rfc822Attachments: true,
    forceRfc822Attachments: true,
  });
  const mail = await reader.parse(readableHead(bytes));
  const sender = mail.replyTo?.[0]?.address ?? mail.from?.address;
  const from = sender === undefined ? undefined : parseAddress(sender);
  const { headers } = mail;
  const field = (name: string) => headers.find(({ key }) => key === name)?.value;
  const subject = clean(decodeWords(field("subject") ?? ""), MAX_SUBJECT).replace(/\s+/g, " ");
  const references = [...idsIn(field("references")), ...idsIn(field("in-reply-to"))];
  return {
    from: from ?? null,
    subject,
    text: clean(textOf(mail), MAX_TEXT),
    messageId: idsIn(field("message-id"))[0] ?? "",
    references: [...new Set(references)].slice(-MAX_REFERENCES),
    notToAnswer: reasonNotToAnswer({
      headers,
      subject,
      from,
      isAnswer: references.length > 0,
      envelopeFrom: envelopeFrom ?? undefined,
    }) ?? null,
  };
}

/** Puts the head of a mail into UTF-8: programs write letters into it without encoding them. */
function readableHead(bytes: Buffer): Buffer {
  const head = headOf(bytes);
  if (head.every((byte) => byte < 0x80)) return bytes;
  const [, charset] = META_CHARSET.exec(head.toString("latin1")) ?? [];
  return Buffer.concat([Buffer.from(decodeText(head, charset)), bytes.subarray(head.length)]);
}

function metaCharset(type: string, bytes: Uint8Array): string | undefined {
  if (type !== "text/html") return undefined;
  return META_CHARSET.exec(Buffer.from(bytes.subarray(0, MAX_META_BYTES)).toString("latin1"))?.[1];
}

function textOf({ text, html }: Email): string {
  return text ?? wordsOf(html ?? "", 10 * MAX_TEXT);
}

function clean(text: string, length: number): string {
  return stripInvisible(text.toWellFormed()).trim().slice(0, length).toWellFormed();
}

/** Returns the Message-IDs in a field, without angle brackets: some programs write none. */
function idsIn(field = ""): string[] {
  const bracketed = [...field.matchAll(/<([^<>\s]{1,250})>/g)].map(([, id]) => id!);
  const rest = field.replace(/<[^<>]*>/g, " ").replace(/\([^()]*\)|"[^"]*"/g, " ");
  const bare = rest.split(/[\s,;<>]+/).filter((word) => /^[^@]{1,200}@[^@]{1,200}$/.test(word))
    .filter((word) => word.length <= 250);
  return [...bracketed, ...bare];
}

import MailComposer from "nodemailer/lib/mail-composer";

/** A mail ends with a line, as SMTP would end one that does not. */
const LINE_END = Buffer.from("\r\n");

/** A mail to compose. */
export interface MailDraft {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
  /** Without angle brackets. */
  readonly messageId: string;
  /** Message-IDs of the mails before it in its thread, without angle brackets, oldest first. */
  readonly references?: readonly string[];
  /** Link by which the recipient opts out; absent: it is no mail to a contact. */
  readonly unsubscribeUrl?: string;
  /** Set where a program wrote the mail (RFC 3834). */
  readonly automatic?: "generated" | "replied";
  /** An invitation to a calendar, as iTIP (RFC 5546). */
  readonly invitation?: { readonly ics: string };
}

/** A field of the header would end before its value does. */
export class HeaderInjection extends Error {
  override readonly name = "HeaderInjection";
  constructor(readonly field: string) {
    super(
      `Cannot write the field ${field} of a mail: its value has a line break or a control character`,
    );
  }
}

/**
 * Composes a mail. Its bytes are made once, and each attempt to send it sends them.
 *
 * @returns bytes with CRLF line ends
 * @throws {HeaderInjection}
 */
export async function composeMail(draft: MailDraft): Promise<Buffer> {
  const { from, to, subject, text, messageId, references = [], automatic } = draft;
  for (const [field, value] of Object.entries({ From: from, To: to, Subject: subject })) {
    // deno-lint-ignore no-control-regex -- these are looked for
    if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(value)) throw new HeaderInjection(field);
  }
  const { unsubscribeUrl, invitation } = draft;
  const composer = new MailComposer({
    from,
    to,
    subject,
    text: unsubscribeUrl
      ? `${text}\n\n-- \nTo get no more mail from us: ${unsubscribeUrl}\n`
      : text,
    messageId: `<${messageId}>`,
    references: references.map((id) => `<${id}>`),
    ...(references.length > 0 ? { inReplyTo: `<${references.at(-1)}>` } : {}),
    headers: {
      ...(unsubscribeUrl
        ? {
          "List-Unsubscribe": { prepared: true, value: `<${unsubscribeUrl}>` },
          "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
        : {}),
      ...(automatic ? { "Auto-Submitted": `auto-${automatic}` } : {}),
    },
    ...(invitation
      ? { icalEvent: { method: "REQUEST", content: invitation.ics, filename: false } }
      : {}),
    newline: "windows",
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const bytes = await composer.compile().build();
  return bytes.subarray(-2).equals(LINE_END) ? bytes : Buffer.concat([bytes, LINE_END]);
}

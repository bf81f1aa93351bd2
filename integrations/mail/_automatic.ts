import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../config.ts";
import type { MailAddress } from "./addresses.ts";

/** Reasons not to answer a mail by a program. @see RFC 3834, section 2 */
export const NOT_TO_ANSWER = ["bounce", "auto_submitted", "list", "no_sender"] as const;

/** A reason not to answer a mail by a program. */
export type NotToAnswer = typeof NOT_TO_ANSWER[number];

const Mark = z.strictObject({ header: z.string(), values: z.array(z.string()).optional() });
const Marks = z.strictObject({
  not: z.array(z.string()),
  bounce: z.array(Mark),
  auto_submitted: z.array(Mark),
  list: z.array(Mark),
  mailboxes: z.strictObject({ bounce: z.array(z.string()), no_sender: z.array(z.string()) }),
  subjects: z.array(z.string().transform((text) => text.toLowerCase())),
});

/** The fields of a mail by which one of a program is known. */
export interface MailMarks {
  /** Names in lower case. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  readonly subject: string;
  readonly from: MailAddress | undefined;
  readonly isAnswer: boolean;
  /** Empty for a bounce; undefined: not known. */
  readonly envelopeFrom: string | undefined;
}

const MARKS = Marks.parse(
  parse(readFileSync(join(ROOT, "integrations", "mail", "automatic_marks.yaml"), "utf8")),
);

/** Returns why a program must not answer a mail; undefined: a person seems to have written it. */
export function reasonNotToAnswer(mail: MailMarks): NotToAnswer | undefined {
  const { headers, from, subject, isAnswer, envelopeFrom } = mail;
  if (envelopeFrom === "" || isFrom(MARKS.mailboxes.bounce, from)) return "bounce";
  for (const reason of ["bounce", "auto_submitted", "list"] as const) {
    if (MARKS[reason].some((mark) => headers.some((header) => fits(mark, header)))) return reason;
  }
  const start = subject.normalize("NFC").toLowerCase();
  if (isAnswer && MARKS.subjects.some((one) => start.startsWith(one))) return "auto_submitted";
  return from === undefined || isFrom(MARKS.mailboxes.no_sender, from) ? "no_sender" : undefined;
}

function fits(
  { header, values }: z.output<typeof Mark>,
  { key, value }: MailMarks["headers"][number],
): boolean {
  if (key !== header) return false;
  const all = value.toLowerCase().replace(/\s+/g, " ").trim();
  const first = all.replace(/\([^()]*\)/g, "").split(";")[0]!.replace(/\s/g, "");
  if (values === undefined) return all !== "" && !MARKS.not.includes(first);
  return values.some((pattern) => {
    const word = pattern.replaceAll("*", "");
    if (!pattern.includes("*")) return first === word;
    return pattern.startsWith("*") ? all.includes(word) : all.startsWith(word);
  });
}

/** Returns whether an address is that of one of these mailboxes. */
function isFrom(mailboxes: readonly string[], from: MailAddress | undefined): boolean {
  return from !== undefined && mailboxes.includes(from.key.slice(0, from.key.lastIndexOf("@")));
}

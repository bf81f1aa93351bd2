/** Data about people that a text carries, as far as their form tells: names and addresses of streets have none. */
import { locateCardNumbers, locateIbans } from "./_numbers.ts";

/** A part of a text that is private. */
export interface PrivateSpan {
  readonly kind: string;
  readonly start: number;
  /** First position after it. */
  readonly end: number;
}

/** The end of an e-mail address. Scripts without blanks may go on right after it. */
const EMAIL_DOMAIN = /@(?:[\p{L}\p{N}-]{1,63}\.){1,8}(?:[A-Za-z]{2,24}|\p{L}{2,24})/gu;
const EMAIL_LOCAL = /[A-Za-z0-9_.%+-]{1,64}$|[\p{L}\p{N}_.%+-]{1,64}$/u;
const MAX_LOCAL = 64;
/** With a country's number, as people write them: at least eight digits. @see E.123 */
const PHONE_ABROAD =
  /(?:(?<![\w+])\+|(?<![\w.,:\/+-])00)[1-9]\d{0,2}(?:[ ().\/-]{0,2}\d){7,13}(?!\d)/g;
/** Within a country: an area that begins with 0, and blanks or signs between. */
const PHONE_AT_HOME =
  /(?<![\w.,:\/-])\(?0\d{1,5}\)?[ \/-]{1,2}\d{3,8}(?:[ -]\d{2,6}){0,3}(?![\w.,:\/-]\d|\w)/g;
/** Of North America. */
const PHONE_NANP =
  /(?<![\w.-])(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-.])[2-9]\d{2}[-.]\d{4}(?![\w-]|\.\d)/g;
/** US social security number. @see https://www.ssa.gov/employer/randomization.html */
const SSN = /(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g;

const PATTERNS: readonly (readonly [string, RegExp])[] = [
  ["phone", PHONE_ABROAD],
  ["phone", PHONE_AT_HOME],
  ["phone", PHONE_NANP],
  ["national_id", SSN],
];

/** Returns where a text carries data about people: `card_number`, `iban`, `email`, `phone`, `national_id`. */
export function locatePersonal(text: string): PrivateSpan[] {
  const toSpan = (kind: string) => ([start, end]: readonly [number, number]) => ({
    kind,
    start,
    end,
  });
  return [
    ...locateCardNumbers(text).map(toSpan("card_number")),
    ...locateIbans(text).map(toSpan("iban")),
    ...locateEmails(text).map(toSpan("email")),
    ...PATTERNS.flatMap(([kind, pattern]) =>
      [...text.matchAll(pattern)].map(({ index, 0: written }) => ({
        kind,
        start: index,
        end: index + written.length,
      }))
    ),
  ];
}

function locateEmails(text: string): (readonly [start: number, end: number])[] {
  return [...text.matchAll(EMAIL_DOMAIN)].flatMap(({ index, 0: domain }) => {
    const local = EMAIL_LOCAL.exec(text.slice(Math.max(0, index - MAX_LOCAL), index))?.[0];
    return local ? [[index - local.length, index + domain.length] as const] : [];
  });
}

/** Returns the kinds of such data that a text carries. */
export function findPersonal(text: string): string[] {
  return [...new Set(locatePersonal(text).map(({ kind }) => kind))];
}

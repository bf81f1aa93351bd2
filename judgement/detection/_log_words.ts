/** A value in a template. */
export const VALUE = "<*>";

/** Maximum of characters of a message that are read. */
const MAX_CHARACTERS = 1_000;
const MAX_WORDS = 40;

/** A quoted text is a value, but for the method of a request. */
const QUOTED = /"(?:([A-Z]{3,7}) )?[^"]{0,300}"/g;
/** A size or a duration: its unit may differ from line to line. */
const QUANTITY =
  /(?<![\w.])\d+(?:[.,]\d+)* (?:[KMGT]i?B|kB|B|bytes?|[mun]?s|secs?|seconds?|mins?|minutes?)(?!\w)/g;
/** Brackets: what a list or a reference has in them is one value if there is a number among it. */
const BRACKETED = /\[[^[\]]{1,200}\]|\{[^{}]{1,200}\}/g;
const QUOTED_SINGLY = /(?<!\w)'[^']{0,100}'(?!\w)/g;
const URL_IN_WORD = /\w{1,20}:\/\/\S+/;
const PATH = /(?:\b[A-Za-z]:)?(?:[/\\][^\s/\\:,;()[\]{}'"<>]+){2,}[/\\]?/g;
const MAIL_ADDRESS = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g;
const HAS_DIGIT = /\d/;
const HAS_LETTER = /\p{Letter}/u;
/** Values with digits. The first that fits counts. */
const NUMBERS = new RegExp(
  [
    /\b[\w-]{1,63}(?:\.[\w-]{1,63})+:\d+\b/, // a host and its port
    /\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b/, // a UUID
    /\b(?:[0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}\b/, // an address of IPv6, or of hardware
    /(?:(?<=_|^|\W)-)?(?<![a-zA-Z0-9])(?:0x)?(?=[a-fA-F]*\d)[0-9a-fA-F]{6,}\b/, // hexadecimal
    /(?:(?<=_|^|\W)[-+])?\d+(?:[.,:]\d+)*/,
  ].map(({ source }) => source).join("|"),
  "g",
);

/** Splits a message into words, with `<*>` in place of each value. */
export function splitWords(message: string): string[] {
  let text = message.slice(0, MAX_CHARACTERS).toWellFormed();
  if (text.includes('"')) {
    text = text.replace(QUOTED, (_, method?: string) => method ? `${method} ${VALUE}` : VALUE);
  }
  if (text.includes("'")) text = text.replace(QUOTED_SINGLY, VALUE);
  if (text.includes("[") || text.includes("{")) {
    text = text.replace(BRACKETED, (group) => /\d/.test(group) ? VALUE : group);
  }
  text = text.replace(QUANTITY, VALUE);
  return text.split(/\s+/, MAX_WORDS).filter(Boolean).map(maskValues);
}

function maskValues(word: string): string {
  let text = word;
  const equals = text.indexOf("=");
  if (equals > 0 && /\w/.test(text[equals - 1]!) && text.length > equals + 1) {
    text = text.slice(0, equals + 1) + VALUE;
  }
  if (text.includes("://")) text = text.replace(URL_IN_WORD, VALUE);
  if (text.includes("/") || text.includes("\\")) text = text.replace(PATH, VALUE);
  if (text.includes("@")) text = text.replace(MAIL_ADDRESS, VALUE);
  if (HAS_DIGIT.test(text)) text = text.replace(NUMBERS, VALUE);
  return text.includes(VALUE) && !HAS_LETTER.test(text) ? VALUE : text;
}

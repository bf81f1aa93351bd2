/** A value in a template. */
export const VALUE = "<*>";

/** Maximum of characters of a message that are read. */
const MAX_CHARACTERS = 1_000;
const MAX_WORDS = 40;

/** The message among the named fields of a line, as JSON and logfmt have them. */
const MESSAGE_FIELD = /(?:"(?:msg|message)"\s*:\s*|\b(?:msg|message)=)"((?:[^"\\]|\\.)*)"/;
const QUOTED = /"[^"]{0,300}"/g;
const QUOTED_SINGLY = /(?<!\w)'[^']{0,100}'(?!\w)/g;
/** Words that may hold a value. */
const MAY_HOLD_VALUE = /[\d/\\@=]/;
/** Values within words: of named fields, URLs, paths, mail addresses, hosts with a port, identifiers, addresses, numbers. */
const VALUES: readonly RegExp[] = [
  /(?<=\w=)[^<].*/,
  /\w+:\/\/\S+/,
  /(?:\b[A-Za-z]:)?(?:[/\\][^\s/\\:,;()[\]{}'"<>]+){2,}[/\\]?/g,
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  /\b[\w-]+(?:\.[\w-]+)+:\d+\b/g,
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi,
  /\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b/gi,
  /\b(?:0x)?(?=[a-f]*\d)[0-9a-f]{6,}\b/gi,
  /\d+(?:[.,:]\d+)*/g,
];
const HAS_LETTER = /[a-zA-Z]|[^\x00-\x7f]/;

/** Returns the field of a line that is its message; undefined: the line has no such field. */
export function messageField(line: string): string | undefined {
  if (!line.includes("msg") && !line.includes("message")) return undefined;
  return MESSAGE_FIELD.exec(line)?.[1];
}

/** Splits a message into words, with `<*>` in place of each value. */
export function splitWords(message: string): string[] {
  let text = message.slice(0, MAX_CHARACTERS);
  if (text.includes('"')) text = text.replace(QUOTED, VALUE);
  if (text.includes("'")) text = text.replace(QUOTED_SINGLY, VALUE);
  return text.split(/\s+/, MAX_WORDS).filter(Boolean).map(maskValues);
}

function maskValues(word: string): string {
  let text = word;
  if (MAY_HOLD_VALUE.test(text)) {
    for (const value of VALUES) text = text.replace(value, VALUE);
  }
  if (!text.includes(VALUE)) return text;
  return HAS_LETTER.test(text) ? text : VALUE;
}

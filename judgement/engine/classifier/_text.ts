/** The words of a text in a plain form that five languages share. */

/** Longest text that is read, in UTF-16 units. The rest adds nothing but time. */
export const MAX_TEXT_LENGTH = 4_000;
const WORD = /[\p{L}\p{N}]+/gu;
/** Invisible characters, which split words for a program but not for a reader. */
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u3164\uffa0]/gu;
/** Camel case of two parts, which is often a name: GitHub is read as `git hub github`. */
const CAMEL_CASE = /(?<![\p{L}\p{N}])(\p{Lu}\p{Ll}+)(\p{Lu}\p{Ll}+)(?![\p{L}\p{N}])/gu;
/** Numbers with a meaning of their own: HTTP and SMTP answers, exit codes, well-known ports. */
const KNOWN_NUMBER =
  /^(?:[1-5]\d\d|22|25|53|80|1433|1521|3306|3389|5432|5672|6379|8443|9092|9200|27017)$/;
const MAX_WORD_LENGTH = 40;
/** Letters by which words are compared, so that endings do not matter. */
const STEM_LENGTH = 7;

/** Removes marks on letters, invisible characters and capitals. */
function normalize(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH).replace(INVISIBLE, "").replaceAll("İ", "I")
    .normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replaceAll("ı", "i").replaceAll("ß", "ss").replaceAll("œ", "oe");
}

/** Returns the words of a text in plain form. `_` and camel case separate words; numbers without a meaning are `#`. */
export function wordsOf(text: string): string[] {
  const separated = text.slice(0, MAX_TEXT_LENGTH)
    .replace(CAMEL_CASE, (name, first, second) => `${first} ${second} ${name.toLowerCase()}`)
    .replace(/(\p{Ll})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return (normalize(separated).match(WORD) ?? []).map((word) => {
    if (word.length > MAX_WORD_LENGTH) return "#long";
    if (/^\d+$/.test(word)) return KNOWN_NUMBER.test(word) ? word : "#";
    return /\d{4}/.test(word) ? "#id" : word;
  });
}

/** Returns the first letters of each word of a text, in order. Numbers and single letters are left out. */
export function stemsOf(text: string): string[] {
  return stems(wordsOf(text));
}

/** Returns the first letters of each word. Numbers and single letters are left out. */
export function stems(words: readonly string[]): string[] {
  return words.filter((word) => word.length > 1 && !word.startsWith("#"))
    .map((word) => word.slice(0, STEM_LENGTH));
}

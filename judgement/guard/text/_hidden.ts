/** Characters that a reader does not see, or takes for others. */

/** Letters of other scripts that look like Latin ones; the letter at the same place in {@linkcode LATIN} is its lookalike. */
const FOREIGN =
  "аеорсухіјѕһԁԛԝѵьɡαοινρτυκΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТХІЈЅԌӏıɑɩʟɪʀɴᴀʙᴄᴅᴇɢʜᴊᴋʟᴍᴏᴘᴛᴜᴠᴡᴢꜱօսոհցզ";
const LATIN =
  "aeopcyxijshdqwvbgaoivptukABEZHIKMNOPTYXABEKMHOPCTXIJSGliaiLIRNabcdeghjklmoptuvwzsounhgq";
const LOOKALIKES = new Map([...FOREIGN].map((char, n) => [char, LATIN[n]!]));
const TAGS = /[\u{E0000}-\u{E007F}]+/gu;
const SELECTORS = /[\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}]{3,}/u;
const BIDI_MARKS = /[\u202A-\u202E\u2066-\u2069]/;
const INVISIBLE =
  /[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/gu;
/** Invisible characters between two Latin letters of a word. */
const SPLIT_WORDS = /[A-Za-z][\u200B-\u200D\u2060-\u2064\uFEFF\u180E\u034F\u00AD]+[A-Za-z]/g;
const ESCAPES = new RegExp("\u001b\\[[0-9;?]{0,12}[A-Za-z]", "g");
// deno-lint-ignore no-control-regex -- these are what is looked for
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g;

/** Something hidden in a text. */
export interface HiddenText {
  readonly kind:
    | "tags"
    | "bidi"
    | "zero_width"
    | "selectors"
    | "controls"
    | "mixed_scripts"
    | "private";
  /** No honest text has it. */
  readonly certain: boolean;
}

/** Returns what is hidden in a text. */
export function findHidden(text: string): HiddenText[] {
  const found: HiddenText[] = [];
  const tags = text.match(TAGS)?.filter((run) => run.length > 2) ?? [];
  if (tags.length > 0 && !/^\u{1F3F4}[\u{E0061}-\u{E007A}]+\u{E007F}$/u.test(text)) {
    const flags = [...text.matchAll(/\u{1F3F4}([\u{E0020}-\u{E007E}]{2,6})\u{E007F}/gu)].length;
    if (tags.length > flags) found.push({ kind: "tags", certain: true });
  }
  if (SELECTORS.test(text)) found.push({ kind: "selectors", certain: true });
  const hasBidiMarks = BIDI_MARKS.test(text);
  const rightToLeft = /[\u0590-\u08FF]/.test(text);
  if (/[\u202D\u202E]/.test(text) || hasBidiMarks && !rightToLeft) {
    found.push({ kind: "bidi", certain: true });
  }
  if ((text.match(SPLIT_WORDS)?.filter((one) => !one.includes("\u00AD")).length ?? 0) > 0) {
    found.push({ kind: "zero_width", certain: true });
  }
  if (/[\u3164\uFFA0\u115F\u2800]/.test(text)) found.push({ kind: "zero_width", certain: false });
  if ((text.replace(ESCAPES, "").match(CONTROLS)?.length ?? 0) > 0) {
    found.push({ kind: "controls", certain: text.includes("\0") || text.includes("\b") });
  }
  if (/[\uE000-\uF8FF\u{F0000}-\u{10FFFD}]/u.test(text)) {
    found.push({ kind: "private", certain: false });
  }
  if (hasMixedScripts(text)) found.push({ kind: "mixed_scripts", certain: false });
  return found;
}

/** Tells whether a word has Latin letters beside lookalikes of another script. */
function hasMixedScripts(text: string): boolean {
  for (const [word] of text.matchAll(/[\p{L}]{3,40}/gu)) {
    if (
      /[a-zA-Z]/.test(word) && /[\u0400-\u04FF\u0370-\u03FF\u0500-\u058F]/.test(word) &&
      [...word].some((char) => char > "\u036F" && LOOKALIKES.has(char))
    ) return true;
  }
  return false;
}

/** Removes invisible characters, and turns tag characters into the letters they stand for. */
export function removeHidden(text: string): string {
  return text.replace(ESCAPES, "").replace(
    TAGS,
    (run) =>
      ` ${
        [...run].map((char) => String.fromCharCode(char.codePointAt(0)! - 0xe0000)).join("")
          .replace(CONTROLS, "")
      } `,
  )
    .replace(INVISIBLE, "").replace(CONTROLS, " ").replace(/[\uE000-\uF8FF]/g, "�");
}

const SELECTOR = /[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u;

/** Decodes the bytes that variation selectors carry, one each. */
export function decodeSelectors(text: string): string {
  if (!SELECTOR.test(text)) return "";
  const bytes = [...text].flatMap((char) => {
    const code = char.codePointAt(0)!;
    if (code >= 0xfe00 && code <= 0xfe0f) return [code - 0xfe00];
    return code >= 0xe0100 && code <= 0xe01ef ? [code - 0xe0100 + 16] : [];
  });
  return bytes.length > 3 ? Buffer.from(bytes).toString("utf8") : "";
}

/** Replaces lookalikes by the Latin letters they look like, and wide, bold and circled letters by plain ones. */
export function foldLookalikes(text: string): string {
  return [...text.normalize("NFKC")].map((char) => LOOKALIKES.get(char) ?? char).join("");
}

const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
  "|": "i",
  "8": "b",
};

/** Replaces digits within words by the letters they stand for: `1gn0re` becomes `ignore`. */
export function foldDigits(text: string): string {
  return text.replace(
    /[a-z0-9@$!|]{3,30}/gi,
    (word) =>
      /[a-z]/i.test(word) && /[01345@$!|7]/.test(word)
        ? word.replace(/[0134578@$!|]/g, (char) => LEET[char]!)
        : word,
  );
}

/** Joins spaced letters: `i g n o r e  a l l` becomes `ignore all`. */
export function joinSpacedLetters(text: string): string {
  return text.replace(
    /(?:(?<![\p{L}\p{N}])\p{L}[ ._\-*]{1,2}){4,400}\p{L}(?![\p{L}\p{N}])/gu,
    (run) => run.split(/[ ._\-*]{2}/).map((word) => word.replace(/[ ._\-*]/g, "")).join(" "),
  );
}

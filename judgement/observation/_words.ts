/** Finds words that report a fault in what programs have written, and judges whether they are about now. */

/** Where words were found. */
export interface FoundWords {
  /** 1: among the last lines; less: other lines have come since, so that they may be about something that is over. */
  readonly strength: number;
  /** Place of the last line that has them, 0 to 1. */
  readonly place: number;
}

/** Lines after which words may be old. Lines that continue another do not count. */
const MAX_LATER_LINES = 12;
const OLD_STRENGTH = 0.7;
/** Lines that continue the one before: of a stack trace, or indented. */
const CONTINUES = /^(?:\s|at |File "|Caused by|\.\.\.|Traceback|\^|goroutine \d|\d+: 0x|#\d|$)/;
/** Levels of lines that report no fault. */
const NO_FAULT = /^.{0,60}?(?:^|[\s[|<("=:])(?:info|debug|trace|notice|I\d{4})(?:[\s\]|>:)",]|$)/i;
/** Just before words: they are denied. */
const DENIED = /\b(?:no|without|zero|0|not an?|never any)\s+(?:\w+\s+)?$/i;
/** In the same part of a line: they are about something that is over, or is only looked for. */
const OVER =
  /\b(?:resolved|recovered|fixed|mended|repaired|previous(?:ly)?|earlier|yesterday|formerly|histor\w+|postmortem|last[ _-](?:week|night|month|year|incident|outage|time|error)|in the past|watch(?:es|ing)? for|detector|detection|checker|protect(?:s|ion)|prevent(?:s|ion)?|avoid(?:s|ed)?)\b/i;
/** Separates parts of a line that are about different things. */
const PARTS = /[,;{}|]|[.!?]\s/;

/** Finds the last of some words. @param words in lower case @returns undefined: they are not there, or report nothing */
export function findWords(text: string, words: readonly string[]): FoundWords | undefined {
  const lines = text.split("\n");
  let later = 0;
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index]!;
    if (reports(line, words)) {
      return {
        strength: later <= MAX_LATER_LINES ? 1 : OLD_STRENGTH,
        place: index / lines.length,
      };
    }
    if (!CONTINUES.test(line)) later++;
  }
  return undefined;
}

function reports(line: string, words: readonly string[]): boolean {
  const lower = line.toLowerCase();
  const found = words.filter((word) => lower.includes(word));
  if (found.length === 0 || NO_FAULT.test(line)) return false;
  return lower.split(PARTS).some((part) =>
    !OVER.test(part) && found.some((word) => {
      const at = part.indexOf(word);
      return at !== -1 && !DENIED.test(part.slice(0, at));
    })
  );
}

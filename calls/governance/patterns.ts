/** Patterns of rules: regular expressions (RE2) that take linear time on any text. */
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { stripInvisible } from "../../contract/mod.ts";

/** Most characters of a text, or of all entries of a list, that are matched. */
const MAX_TEXT_LENGTH = 20_000;
/** Most steps of a compiled pattern; matching takes at most one pass of them per character. */
const MAX_STEPS = 2_000;

/** Constructs of JavaScript that RE2 does not support, or spells differently, with advice. */
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/^\(\?<?[=!]/, "looking ahead or behind can't be done in linear time; say it as two rules"],
  [/^\\(?:[1-9]|k)/, "referring back to a group can't be done in linear time"],
  [/^\\u/, "write the character itself, or \\x{…}"],
  [/^\\p\{\w+=/, "write a script or a category by its name alone, as \\p{Greek} or \\p{L}"],
  [/^\[\^\]/, "write (?s:.) for any character"],
];

/** Compiled patterns: policies are few, and calls are many. */
const compiled = new Map<string, RE2JS>();
const MAX_COMPILED = 1_000;

/** Returns why a text is no valid pattern; undefined: it is valid. */
export function patternError(text: string): string | undefined {
  try {
    const steps = RE2JS.compile(text).programSize();
    if (steps <= MAX_STEPS) return undefined;
    return `it comes to ${steps} steps, and may have ${MAX_STEPS}; repeat less often`;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const [, what, where = ""] = /^error parsing regexp: ([^:`]+)(?:: `([^]*)`)?$/
      .exec(error.message) ?? [undefined, error.message];
    const right = UNSUPPORTED.find(([construct]) => construct.test(where))?.[1];
    return `${what}${where ? ` (${where})` : ""}${right ? `: ${right}` : ""}`;
  }
}

function patternOf(text: string): RE2JS {
  const known = compiled.get(text);
  if (known) return known;
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  const made = RE2JS.compile(text);
  compiled.set(text, made);
  return made;
}

/**
 * Returns whether values match a pattern. Each is matched as it is, and normalized: without invisible characters, in
 * Unicode form NFKC. A rule that allows needs every form to match, a rule that restricts any.
 *
 * @param values of one argument, of a list each entry
 */
export function fitsPattern(
  values: readonly unknown[],
  pattern: string,
  purpose: "allow" | "restrict",
): boolean {
  if (values.length === 0) return false;
  const texts = values.map((value) => typeof value === "string" ? value : JSON.stringify(value));
  const forms = texts.map((text) => [text, stripInvisible(text.normalize("NFKC"))]).flat();
  const length = (all: readonly string[]) => all.reduce((sum, text) => sum + text.length, 0);
  if (length(texts) > MAX_TEXT_LENGTH || length(forms) > 3 * MAX_TEXT_LENGTH) {
    return purpose === "restrict";
  }
  const made = patternOf(pattern);
  const fits = (text: string) => made.test(text);
  return purpose === "allow" ? forms.every(fits) : forms.some(fits);
}

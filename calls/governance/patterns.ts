/** Patterns of rules: regular expressions that take linear time, whatever they are held against. */
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { stripInvisible } from "../../contract/mod.ts";

/** Longest text, characters, that is held against a pattern; of a list, all its entries together. */
const MOST_TEXT = 20_000;
/** Most steps of a pattern: with each character of a text, each of them is taken once at most. */
const MOST_STEPS = 2_000;

/** Constructs of JavaScript's expressions that no linear time is known for, or that RE2 writes otherwise. */
const OTHERWISE: readonly (readonly [RegExp, string])[] = [
  [/^\(\?<?[=!]/, "looking ahead or behind can't be done in linear time; say it as two rules"],
  [/^\\(?:[1-9]|k)/, "referring back to a group can't be done in linear time"],
  [/^\\u/, "write the character itself, or \\x{…}"],
  [/^\\p\{\w+=/, "write a script or a category by its name alone, as \\p{Greek} or \\p{L}"],
  [/^\[\^\]/, "write (?s:.) for any character"],
];

/** Compiled once: policies are few, and calls are many. */
const compiled = new Map<string, RE2JS>();
const MOST_KEPT = 1_000;

/**
 * Why a text is no pattern, in words.
 *
 * @returns undefined: it is one
 */
export function whyNoPattern(text: string): string | undefined {
  try {
    const steps = RE2JS.compile(text).programSize();
    if (steps <= MOST_STEPS) return undefined;
    return `it comes to ${steps} steps, and may have ${MOST_STEPS}; repeat less often`;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const [, what, where = ""] = /^error parsing regexp: ([^:`]+)(?:: `([^]*)`)?$/
      .exec(error.message) ?? [undefined, error.message];
    const right = OTHERWISE.find(([construct]) => construct.test(where))?.[1];
    return `${what}${where ? ` (${where})` : ""}${right ? `: ${right}` : ""}`;
  }
}

function patternOf(text: string): RE2JS {
  const known = compiled.get(text);
  if (known) return known;
  if (compiled.size >= MOST_KEPT) compiled.clear();
  const made = RE2JS.compile(text);
  compiled.set(text, made);
  return made;
}

/**
 * Whether values fit a pattern. Each is looked at as it is, and as it is read: without what can't be seen, and with one
 * form for characters that have several. What allows asks all of that, what restricts any.
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
  if (length(texts) > MOST_TEXT || length(forms) > 3 * MOST_TEXT) return purpose === "restrict";
  const made = patternOf(pattern);
  const fits = (text: string) => made.test(text);
  return purpose === "allow" ? forms.every(fits) : forms.some(fits);
}

/** Patterns for text that is meant to steer the judge, and the pieces they are built of. */

/** An attempt of such text. */
export type Trick =
  | "overrides instructions"
  | "changes the role"
  | "dictates the verdict"
  | "imitates the system"
  | "asks for what is confidential"
  | "asks to conceal";

/** A form of such text. */
export interface Pattern {
  readonly trick: Trick;
  readonly test: RegExp;
  /** A sentence that only reports it is harmless. */
  readonly reportable: boolean;
  /** Faster expressions that match every text that this pattern matches. */
  readonly needs?: readonly RegExp[];
}

/** Up to `n` words in between, as a regular expression. */
export const gap = (n: number): string =>
  `(?:[^\\p{L}\\p{N}]+[\\p{L}\\p{N}'’-]+){0,${n}}?[^\\p{L}\\p{N}]+`;
/** One of the words between bars, as a regular expression. */
export const any = (words: string): string =>
  `(?:${words.trim().replaceAll("\\w", "[\\p{L}\\p{N}]").split(/\s*\|\s*/).join("|")})`;
/** Makes a pattern of the source of a regular expression. */
export const pattern = (trick: Trick, source: string, reportable = true): Pattern => ({
  trick,
  test: new RegExp(source, "giu"),
  reportable,
});
/** The beginning and the end of a word, as regular expressions. */
export const START = "(?<![\\p{L}\\p{N}_])";
export const END = "(?![\\p{L}\\p{N}_])";

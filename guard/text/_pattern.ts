/** How text that is meant for whoever judges is looked for. */

/** What such text tries. */
export type Trick =
  | "overrides instructions"
  | "changes the role"
  | "dictates the verdict"
  | "imitates the system"
  | "asks for what is confidential"
  | "asks to conceal";

/** A text that is looked for. */
export interface Pattern {
  readonly trick: Trick;
  readonly test: RegExp;
  /** True where a sentence that reports it is harmless. */
  readonly reportable: boolean;
  /** Without each of these, it can't match; they are quicker. */
  readonly needs?: readonly RegExp[];
}

/** Up to `n` words in between. */
export const gap = (n: number): string =>
  `(?:[^\\p{L}\\p{N}]+[\\p{L}\\p{N}'’-]+){0,${n}}?[^\\p{L}\\p{N}]+`;
/** One of the words between bars. */
export const any = (words: string): string =>
  `(?:${words.trim().replaceAll("\\w", "[\\p{L}\\p{N}]").split(/\s*\|\s*/).join("|")})`;
/** A pattern, from the source of its expression. */
export const pattern = (trick: Trick, source: string, reportable = true): Pattern => ({
  trick,
  test: new RegExp(source, "giu"),
  reportable,
});
/** Where a word begins, and where one ends. */
export const START = "(?<![\\p{L}\\p{N}_])";
export const END = "(?![\\p{L}\\p{N}_])";

/** Stands in a word for what can't be known without running the line, such as a program's output. */

export const UNKNOWN = "\uE000";

/** One program that a line would run. */
export interface Run {
  /** Name without folders, lower case, such as `rm`; with {@linkcode UNKNOWN} in it where it can't be read. */
  readonly program: string;
  /** Its arguments after expansion of variables, braces and quotes. Globs are kept. */
  readonly args: readonly string[];
  readonly writes: readonly FileWrite[];
  /** From a pipe, a here-document or `<`. */
  readonly input: Input | undefined;
  /** The working folder; undefined: the line does not set it. */
  readonly folder: string | undefined;
  /** It runs on another machine (ssh, kubectl exec). */
  readonly remote: boolean;
  /** The next program of its pipe. */
  readonly into: string | undefined;
}

/** A redirection that writes. */
export interface FileWrite {
  readonly path: string;
  readonly appends: boolean;
}

/** Input of a program: its text, if that is known, and the programs that produce it. */
export interface Input {
  readonly text: string | undefined;
  readonly from: readonly Run[];
  /** The file of `<`. */
  readonly path?: string;
}

/** A finding about a line as a whole. */
export type LineIssue =
  | "too_long"
  | "too_deep"
  | "not_parsed"
  | "fork_bomb"
  | "hidden_program"
  | "runs_unseen"
  | "runs_downloaded"
  | "runs_decoded";

/** A parsed line. */
export interface ParsedLine {
  readonly runs: readonly Run[];
  readonly issues: readonly LineIssue[];
  /** Program text in other languages that the line gives to an interpreter. */
  readonly code: readonly { readonly language: string; readonly text: string }[];
}

/** A program, shell text or program text that a program runs. */
export type Inner =
  | { readonly argv: readonly string[]; readonly remote?: boolean }
  | { readonly script: string; readonly remote?: boolean }
  | { readonly code: string; readonly language: string };

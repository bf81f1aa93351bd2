/** Stands in a word for what can't be known without running the line, such as what a program would print. */
export const UNKNOWN = "\uE000";

/** One program that a line would run, with what is known of its surroundings. */
export interface Run {
  /** Name without folders, lower case, such as `rm`; with {@linkcode UNKNOWN} in it where it can't be read. */
  readonly program: string;
  /** Its arguments after variables, braces and quotes; globs stand as they are. */
  readonly args: readonly string[];
  readonly writes: readonly Write[];
  /** What comes in by a pipe, a here-document or `<`. */
  readonly input: Input | undefined;
  /** The folder that it runs in, where the line says so. */
  readonly folder: string | undefined;
  /** Whose machine: another program runs it there (ssh, kubectl exec). */
  readonly remote: boolean;
  /** What it goes on to, by pipe. */
  readonly into: string | undefined;
}

/** A redirection that writes. */
export interface Write {
  readonly path: string;
  readonly appends: boolean;
}

/** What a program reads: its text where that is known, and the programs that make it. */
export interface Input {
  readonly text: string | undefined;
  readonly from: readonly Run[];
  /** A file by `<`. */
  readonly path?: string;
}

/** What can be said about a line as a whole. */
export type Oddity =
  | "too_long"
  | "too_deep"
  | "not_parsed"
  | "fork_bomb"
  | "hidden_program"
  | "runs_unseen"
  | "runs_downloaded"
  | "runs_decoded";

/** A line, understood. */
export interface Reading {
  readonly runs: readonly Run[];
  readonly oddities: readonly Oddity[];
  /** Program text in other languages that the line hands to an interpreter. */
  readonly code: readonly { readonly language: string; readonly text: string }[];
}

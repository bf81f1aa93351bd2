/** Stands in a word for what can't be known without running the line, such as a program's output. */

export const UNKNOWN = "\uE000";

/** One program that a line would run. */
export interface Run {
  /** Name without folders, lower case, such as `rm`; with {@linkcode UNKNOWN} in it where it can't be read. */
  readonly program: string;
  /** The program as it is written, with its folder. */
  readonly path: string;
  /** Its arguments after expansion of variables, braces and quotes. Globs are kept. */
  readonly args: readonly string[];
  readonly writes: readonly FileWrite[];
  /** From a pipe, a here-document or `<`. */
  readonly input: Input | undefined;
  /** The working folder; undefined: the line does not set it. */
  readonly folder: string | undefined;
  /** False: where a `cd` before it failed, it runs in a folder that is not known. */
  readonly isFolderSure: boolean;
  /** Variables that the line sets for it. */
  readonly environment: readonly Assignment[];
  /** It runs on another machine (ssh, kubectl exec). */
  readonly remote: boolean;
  /** The next program of its pipe. */
  readonly into: string | undefined;
}

/** A variable that a line sets. */
export interface Assignment {
  readonly name: string;
  readonly value: string;
  /** Programs get it; false: it is the shell's own, unless the name was exported before. */
  readonly isExported: boolean;
}

/** Something that a run acts on. */
export interface Target {
  readonly kind: "service" | "container" | "workload" | "database" | "host";
  readonly name: string;
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
  | "runs_decoded"
  | "prints_secret";

/** A parsed line. */
export interface ParsedLine {
  readonly runs: readonly Run[];
  readonly issues: readonly LineIssue[];
  /** Program text in other languages that the line gives to an interpreter. */
  readonly code: readonly { readonly language: string; readonly text: string }[];
}

/** A program, shell text or program text that a program runs. */
export type Inner =
  | {
    readonly argv: readonly string[];
    readonly remote?: boolean;
    readonly environment?: readonly Assignment[];
  }
  | { readonly script: string; readonly remote?: boolean }
  | { readonly code: string; readonly language: string };

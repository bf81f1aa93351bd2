/** State while a line is parsed. */
import type { Function as ShellFunction } from "unbash";
import type { Assignment, FileWrite, Input, LineIssue, Run } from "./_types.ts";

/** Stands in a word for downloaded content. */
export const DOWNLOADED = "\uE001";
/** Levels of programs within programs. */
export const MAX_DEPTH = 8;
const MAX_RUNS = 400;
/** Programs that download. */
export const DOWNLOADERS =
  /^(curl|wget|fetch|aria2c|lynx|lwp-request|http|https|nc|ncat|netcat|socat|ftp|tftp|scp|sftp|rsync)$/;

/** State of the whole line. */
export interface State {
  readonly runs: Run[];
  readonly issues: Set<LineIssue>;
  /** The line ends at the first program that fails. */
  isErrorChecked: boolean;
  readonly code: { language: string; text: string }[];
  /** Content of files that the line itself writes, by path. */
  readonly files: Map<string, string>;
  /** Words that `alias` defines. */
  readonly aliases: Map<string, string>;
  readonly functions: Map<string, ShellFunction>;
  /** Variables that hold numbers: what is set to them is evaluated. */
  readonly integers: Set<string>;
}

/** The surroundings of one program. */
export interface RunContext {
  readonly variables: Map<string, string>;
  folder: string | undefined;
  /** The folder may be another one: what was to change it may have failed. */
  isFolderSure: boolean;
  readonly remote: boolean;
  readonly depth: number;
}

/** The programs of a node, and its output; undefined: unknown. */
export interface RunResult {
  readonly runs: readonly Run[];
  readonly text: string | undefined;
}

/** No programs, and unknown output. */
export const NO_RESULT: RunResult = { runs: [], text: undefined };

/** Tells whether the line has more runs than any honest one. */
export function hasTooManyRuns({ runs }: State): boolean {
  return runs.length > MAX_RUNS;
}

/** Records one program's run. */
export function addRun(
  run: {
    program: string;
    path?: string;
    args?: readonly string[];
    writes?: readonly FileWrite[];
    environment?: readonly Assignment[];
  },
  { folder, isFolderSure, remote }: RunContext,
  state: State,
  input: Input | undefined,
  into: string | undefined,
): Run {
  const complete: Run = {
    args: [],
    path: run.program,
    writes: [],
    environment: [],
    ...run,
    folder,
    isFolderSure,
    remote,
    input,
    into,
  };
  if (state.runs.length <= MAX_RUNS) state.runs.push(complete);
  return complete;
}

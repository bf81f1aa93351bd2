/** What is known while a line is read. */
import type { Function as ShellFunction } from "unbash";
import type { Input, Oddity, Run, Write } from "./_types.ts";

/** Stands for what would come from the network. */
export const DOWNLOADED = "\uE001";
/** Deepest that programs within programs are read. */
export const DEEPEST = 8;
const MOST_RUNS = 400;
/** Programs that fetch what others serve. */
export const DOWNLOADERS =
  /^(curl|wget|fetch|aria2c|lynx|lwp-request|http|https|nc|ncat|netcat|socat|ftp|tftp|scp|sftp|rsync)$/;

/** Of the line as a whole. */
export interface State {
  readonly runs: Run[];
  readonly oddities: Set<Oddity>;
  readonly code: { language: string; text: string }[];
  /** Files that the line itself writes, so that running them is seen through. */
  readonly files: Map<string, string>;
  /** Words that stand for other words, by `alias`. */
  readonly aliases: Map<string, string>;
  readonly functions: Map<string, ShellFunction>;
}

/** Where in it, and on which machine. */
export interface Place {
  readonly variables: Map<string, string>;
  folder: string | undefined;
  readonly remote: boolean;
  readonly depth: number;
}

/** What a node ran, and what it printed where that is known. */
export interface Ran {
  readonly runs: readonly Run[];
  readonly text: string | undefined;
}

/** Nothing that is known of. */
export const NOTHING: Ran = { runs: [], text: undefined };

/** Whether more runs than any honest line has were seen. */
export function isTooMuch({ runs }: State): boolean {
  return runs.length > MOST_RUNS;
}

/** Notes one program's run. */
export function record(
  run: { program: string; args?: readonly string[]; writes: readonly Write[] },
  { folder, remote }: Place,
  state: State,
  input: Input | undefined,
  into: string | undefined,
): Run {
  const whole: Run = { args: [], ...run, folder, remote, input, into };
  if (state.runs.length <= MOST_RUNS) state.runs.push(whole);
  return whole;
}

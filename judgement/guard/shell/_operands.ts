/** Checks of operands that kinds share. */
import type { Objection } from "../types.ts";
import { writeObjections } from "./_files.ts";
import { isSecret } from "./_destinations.ts";
import type { ReadArguments } from "./_option_values.ts";
import { displayPath } from "./_removal.ts";
import { ask, type ProgramRule } from "./_rule.ts";
import type { Run, Target } from "./_types.ts";

/** A kind of operands. */
export interface Kind {
  /** A run with such operands only reads. */
  readonly looks?: boolean | ((run: Run) => boolean);
  readonly check?: (words: readonly string[], run: Run, read: ReadArguments) => Objection[];
  /** Kinds of things that the operands name. */
  readonly target?: Target["kind"];
  /** Returns the names among the operands; by default all are. */
  readonly names?: (words: readonly string[]) => readonly string[];
}

const WORKLOAD_TYPE =
  /^(deploy(ments?)?(\.apps)?|sts|statefulsets?|ds|daemonsets?|rs|replicasets?|po|pods?|jobs?|cj|cronjobs?|dc|no|nodes?)$/;
const UNIT = /^(?!all:?$)[\w@:.\\-]+(?<!\.(c?js|json|ya?ml))$/;

/** Objects to what is not known. */
export const nothing = (why: string) => ask("unknown", why);
/** Returns the kind of operands that a program's own rule judges. */
export const byRule = (rule: ProgramRule): Kind => ({ check: (_words, run) => rule(run) });
/** Returns a check of each word by itself. */
export const each =
  (check: (word: string, run: Run) => Objection[]): Kind["check"] => (words, run) =>
    words.flatMap((word) => check(word, run));

/** Objects to names that stand for many, or that can't be known. */
export function nameObjections(
  words: readonly string[],
  what: string,
  pattern = UNIT,
): Objection[] {
  if (words.length === 0) return [ask("outage", `It does not say on which ${what} it acts`)];
  return words.filter((word) => !pattern.test(word)).slice(0, 1).map((word) =>
    ask("outage", `On which ${what} it acts can't be known: \`${displayPath(word)}\``)
  );
}

/** Returns the kind of names of things that are acted on. */
export const named = (target: Target["kind"], what: string, pattern?: RegExp): Kind => ({
  target,
  check: (words) => nameObjections(words, what, pattern),
});

/** Objects to reading what is secret. */
export const readFile = (path: string) =>
  isSecret(path) ? [ask("secret", "It reads keys, passwords or accounts")] : [];
/** Objects to writing what must not be written. */
export const writeFile = (path: string, run: Run) => writeObjections(path, run, "overwrites");
/** Objects to making what must not be made. */
export const createFile = (path: string, run: Run) => writeObjections(path, run, "adds");

/** Returns the names of `deployment/web`, or of `deployment web`. */
export function workloadNames(words: readonly string[]): readonly string[] {
  if (words.some((word) => word.includes("/"))) {
    return words.map((word) => word.replace(/^.*\//, ""));
  }
  return WORKLOAD_TYPE.test(words[0] ?? "") ? words.slice(1) : words;
}

/** Checks a command line: parses it, and applies the rules of the programs it would run. */
import type { Objection } from "../types.ts";
import { clouds } from "./_clouds.ts";
import { checkCode } from "./_code.ts";
import { databases } from "./_databases.ts";
import { disks, disksByPattern } from "./_disks.ts";
import { files, writeObjections } from "./_files.ts";
import { network } from "./_network.ts";
import { platforms } from "./_platforms.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";
import { checkSql } from "./_sql.ts";
import { DOWNLOADED } from "./_state.ts";
import { system } from "./_system.ts";
import { type LineIssue, type Run, UNKNOWN } from "./_types.ts";
import { unknownProgram } from "./_unknown_programs.ts";
import { parseLine } from "./_walk.ts";
import { checkWindows, looksLikeWindows } from "./_windows.ts";
import { unwrap } from "./_wrappers.ts";

/** Levels of program text within program text. */
const MAX_CODE_DEPTH = 3;
const MAX_OBJECTIONS = 12;

const RULES = new Map<string, ProgramRule[]>();
for (const table of [files, system, disks, databases, platforms, clouds, network]) {
  for (const [name, rule] of Object.entries(table)) {
    RULES.set(name, [...(RULES.get(name) ?? []), rule]);
  }
}

/** Programs that only read, or that are judged by what they run. */
const KNOWN_PROGRAM =
  /^(echo|printf|true|false|:|\[|\[\[|test|cd|pwd|ls|cat|grep|egrep|fgrep|zgrep|rg|sort|uniq|wc|cut|tr|head|tail|df|du|free|top|htop|ps|uptime|vmstat|iostat|sar|ss|netstat|lsof|id|whoami|hostname|date|sleep|wait|read|set|shift|return|exit|export|local|if|for|which|type|file|stat|touch|mkdir|make|npm|yarn|pip3?|sudo|env)$/;

const ISSUE_OBJECTIONS: Readonly<Record<LineIssue, () => Objection>> = {
  too_long: () => ask("unseen", "The command is longer than can be read"),
  too_deep: () => deny("unseen", "The command is nested more deeply than any honest one"),
  not_parsed: () => ask("unseen", "The command is not complete shell text"),
  fork_bomb: () => deny("outage", "It starts itself again and again, without end"),
  hidden_program: () =>
    ask("unseen", "Which program it runs is hidden in a variable, a pattern or another program"),
  runs_unseen: () => ask("unseen", "It runs text that can't be seen beforehand"),
  runs_downloaded: () => deny("remote_code", "It runs what it downloads"),
  runs_decoded: () => deny("unseen", "It runs text that is hidden by an encoding"),
};

/** A line that is a statement of a database rather than of a shell. */
const SQL =
  /^\s*(?:--[^\n]*\n\s*)*(?:select\s.+\sfrom|insert\s+into|update\s+\S+\s+set|delete\s+from|drop\s+(?:table|database|schema|user|role|index|view)|truncate\s+(?:table\s+)?\w+\s*(?:;|,|cascade|$)|alter\s+(?:table|user|role|system|database)|create\s+(?:table|index|user|role|database)|grant\s+\w+|revoke\s+\w+|vacuum\b|analyze\b|reindex\b|begin\s*;|use\s+\w+\s*;)/i;
const STOPPED = /^(stop|down|kill|offline)$/;
const STARTED = /^(start|restart|up|online|reload-or-restart)$/;

/** Tells whether a run stops what a later run of the same program starts again: a restart in two steps. */
function isStartedAgain(run: Run, runs: readonly Run[]): boolean {
  if (
    run.program === "shutdown" && run.args.length === 0 &&
    runs.some(({ program }) => program === "no")
  ) return true;
  if (run.program === "ifdown") {
    return runs.some(({ program, args }) => program === "ifup" && args[0] === run.args[0]);
  }
  if (!run.args.some((arg) => STOPPED.test(arg))) return false;
  const units = run.args.filter((arg) => !STOPPED.test(arg) && !arg.startsWith("-"));
  const later = runs.slice(runs.indexOf(run) + 1).filter(({ program, args }) =>
    program === run.program && args.some((arg) => STARTED.test(arg))
  );
  const wide = run.args.some((arg) => /^(-v|--volumes|--rmi|--force|\*)$/.test(arg));
  return !wide && later.some(({ args }) => units.every((unit) => args.includes(unit)));
}

/**
 * Returns objections to a command.
 *
 * @param line a line of a POSIX shell, PowerShell or cmd; any length
 * @param depth of program text within program text
 */
export function checkCommand(line: string, depth = 0): Objection[] {
  const isWindows = looksLikeWindows(line);
  const isSql = SQL.test(line);
  const { runs, issues, code } = parseLine(line);
  const relevant = issues.filter((issue) =>
    !isWindows || issue !== "not_parsed" && issue !== "hidden_program"
  );
  const objections = [
    ...runs.filter((run) => !isStartedAgain(run, runs)).flatMap(checkRun),
    ...(isSql ? checkSql(line) : relevant.map((issue) => ISSUE_OBJECTIONS[issue]())),
    ...(isWindows ? checkWindows(line) : []),
  ];
  if (depth < MAX_CODE_DEPTH) {
    objections.push(
      ...code.flatMap(({ language, text }) => checkInnerCode(language, text, depth)),
    );
  }
  return distinct(objections).slice(0, MAX_OBJECTIONS);
}

function checkInnerCode(language: string, text: string, depth: number): Objection[] {
  if (language === "powershell" || language === "cmd") {
    return [
      ...checkWindows(text),
      ...checkCommand(text, depth + 1).filter(({ weight }) => weight === "deny"),
    ];
  }
  const { found, lines } = checkCode(text);
  return [...found, ...lines.flatMap((line) => checkCommand(line, depth + 1))];
}

function checkRun(run: Run): Objection[] {
  const common = commonObjections(run);
  const hidden = hiddenRemoval(run);
  const rules = RULES.get(run.program);
  if (rules) return [...common, ...hidden, ...rules.flatMap((rule) => rule(run))];
  const byPattern = disksByPattern.find(([pattern]) => pattern.test(run.program))?.[1];
  if (byPattern) return [...common, ...byPattern(run)];
  if (KNOWN_PROGRAM.test(run.program) || unwrap(run.program, run.args).length > 0) return common;
  return [...common, ...hidden, ...unknownProgram(run)];
}

/** Returns objections that do not depend on the program. */
function commonObjections(run: Run): Objection[] {
  const { program, args, writes, input } = run;
  const objections = writes.flatMap(({ path, appends }) => writeObjections(path, run, !appends));
  if (/^(declare|typeset|local)$/.test(program) && args.some((arg) => /^-\w*n/.test(arg))) {
    objections.push(ask("unseen", "What it runs is hidden behind a second name"));
  }
  if (args.some((arg) => arg.startsWith(DOWNLOADED))) {
    objections.push(ask("remote_code", "It works with what it downloads, unseen"));
  }
  if (args.some((arg) => /\(\)\s*\{[^}]*\}\s*;\s*\S/.test(arg))) {
    objections.push(deny("remote_code", "It plants a function for the next shell to run"));
  }
  const isEndless = program === "cat" &&
    args.some((arg) => /^\/dev\/(zero|urandom|random|full)$/.test(arg)) &&
    writes.some(({ path }) => path !== "/dev/null");
  if (isEndless) objections.push(ask("outage", "It writes without end"));
  if (input?.path?.startsWith("/dev/tcp/") || input?.path?.startsWith("/dev/udp/")) {
    objections.push(...writeObjections(input.path, run, false));
  }
  return objections;
}

function hiddenRemoval({ program, args }: Run): Objection[] {
  return program.includes(UNKNOWN) &&
      args.some((arg) => /^-[a-z]*r[a-z]*f|^-[a-z]*f[a-z]*r|^\/$/.test(arg))
    ? [deny("unseen", "A program whose name is hidden gets the arguments of a removal")]
    : [];
}

function distinct(all: readonly Objection[]): Objection[] {
  const first = new Map<string, Objection>();
  for (const one of all) {
    const key = `${one.weight} ${one.reason}`;
    if (!first.has(key)) first.set(key, one);
  }
  return [...first.values()];
}

const READ_ONLY_PROGRAM =
  /^(echo|printf|true|false|:|\[|\[\[|test|cd|pwd|ls|cat|grep|egrep|fgrep|zgrep|rg|sort|uniq|wc|cut|tr|head|tail|df|du|free|top|ps|uptime|vmstat|iostat|mpstat|sar|ss|netstat|lsof|id|whoami|hostname|date|sleep|which|type|file|stat|dig|nslookup|host|ping|mtr|traceroute|journalctl|dmesg|awk|jq|sudo|getent|last|lsblk|findmnt|nproc|lscpu|lspci)$/;

/** Tells whether a line reaches nobody: all its programs are known to only read, and it writes no file. */
export function isReadOnly(line: string): boolean {
  const { runs, issues } = parseLine(line);
  return issues.length === 0 && runs.length > 0 &&
    runs.every(({ program, writes }) =>
      READ_ONLY_PROGRAM.test(program) && writes.every(({ path }) => path === "/dev/null")
    );
}

/**
 * What a command would do, understood by parsing it: through `sudo`, `bash -c`, pipes into shells, variables, base64, other
 * interpreters, and to what it removes, stops, opens or sends.
 *
 * ```ts
 * commandObjections("echo cm0gLXJmIC8= | base64 -d | sh"); // It removes `/`: a whole part of the machine
 * ```
 * @module
 */
import type { Objection } from "../types.ts";
import { clouds } from "./_clouds.ts";
import { checkCode } from "./_code.ts";
import { data } from "./_databases.ts";
import { files, writeObjections } from "./_files.ts";
import { network } from "./_network.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";
import { checkSql } from "./_sql.ts";
import { platforms } from "./_platforms.ts";
import { system, systemByPattern } from "./_system.ts";
import { DOWNLOADED } from "./_state.ts";
import { parseLine } from "./_walk.ts";
import { looksLikeWindows, checkWindows } from "./_windows.ts";
import { unwrap } from "./_wrappers.ts";
import { unknownProgram } from "./_unknown_programs.ts";
import { type LineIssue, type Run, UNKNOWN } from "./_types.ts";

const TABLES = [files, system, data, platforms, clouds, network];
const RULES = new Map<string, ProgramRule[]>();
for (const table of TABLES) {
  for (const [name, judge] of Object.entries(table)) {
    RULES.set(name, [...(RULES.get(name) ?? []), judge]);
  }
}
/** Programs that only look, or that are judged by what they run. */
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

/** Whether a run stops what a later one of the same program starts again: a restart in two steps. */
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
 * What speaks against running a command.
 *
 * @param line a shell line, of a POSIX shell, PowerShell or cmd; any length
 */
export function checkCommand(line: string, depth = 0): Objection[] {
  const windows = looksLikeWindows(line);
  const { runs, issues, code } = parseLine(line);
  const odd = issues.filter((oddity) =>
    !windows || oddity !== "not_parsed" && oddity !== "hidden_program"
  )
    .map((oddity) => ISSUE_OBJECTIONS[oddity]());
  const bare = SQL.test(line) ? checkSql(line) : [];
  const judged = runs.filter((run) => !isStartedAgain(run, runs));
  const found = [
    ...judged.flatMap(checkRun),
    ...bare,
    ...odd.filter(() => !SQL.test(line)),
    ...(windows ? checkWindows(line) : []),
  ];
  if (depth < 3) found.push(...code.flatMap(({ language, text }) => checkInnerCode(language, text, depth)));
  return distinct(found);
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
  const written = run.writes.flatMap(({ path, appends }) => writeObjections(path, run, !appends));
  if (/^(declare|typeset|local)$/.test(run.program) && run.args.some((arg) => /^-\w*n/.test(arg))) {
    written.push(ask("unseen", "What it runs is hidden behind a second name"));
  }
  if (run.args.some((arg) => arg.startsWith(DOWNLOADED))) {
    written.push(ask("remote_code", "It works with what it downloads, unseen"));
  }
  if (run.args.some((arg) => /\(\)\s*\{[^}]*\}\s*;\s*\S/.test(arg))) {
    written.push(deny("remote_code", "It plants a function for the next shell to run"));
  }
  if (
    run.program === "cat" &&
    run.args.some((arg) => /^\/dev\/(zero|urandom|random|full)$/.test(arg)) &&
    run.writes.some(({ path }) => path !== "/dev/null")
  ) written.push(ask("outage", "It writes without end"));
  const reads = run.input?.path;
  if (reads?.startsWith("/dev/tcp/") || reads?.startsWith("/dev/udp/")) {
    written.push(...writeObjections(reads, run, false));
  }
  const hidden = run.program.includes(UNKNOWN) &&
      run.args.some((arg) => /^-[a-z]*r[a-z]*f|^-[a-z]*f[a-z]*r|^\/$/.test(arg))
    ? [deny("unseen", "A program whose name is hidden gets the arguments of a removal")]
    : [];
  const named = RULES.get(run.program);
  if (named) return [...written, ...hidden, ...named.flatMap((one) => one(run))];
  const byPattern = systemByPattern.find(([pattern]) => pattern.test(run.program))?.[1];
  if (byPattern) return [...written, ...byPattern(run)];
  if (KNOWN_PROGRAM.test(run.program) || unwrap(run.program, run.args).length > 0) return written;
  return [...written, ...hidden, ...unknownProgram(run)];
}

function distinct(all: readonly Objection[]): Objection[] {
  const seen = new Map<string, Objection>();
  for (const one of all) {
    if (!seen.has(`${one.weight} ${one.reason}`)) seen.set(`${one.weight} ${one.reason}`, one);
  }
  return [...seen.values()].slice(0, 12);
}

const READ_ONLY_PROGRAM =
  /^(echo|printf|true|false|:|\[|\[\[|test|cd|pwd|ls|cat|grep|egrep|fgrep|zgrep|rg|sort|uniq|wc|cut|tr|head|tail|df|du|free|top|ps|uptime|vmstat|iostat|mpstat|sar|ss|netstat|lsof|id|whoami|hostname|date|sleep|which|type|file|stat|dig|nslookup|host|ping|mtr|traceroute|journalctl|dmesg|awk|jq|sudo|getent|last|lsblk|findmnt|nproc|lscpu|lspci)$/;

/** Whether a line only looks, and so reaches nobody: known programs that read, and no file written. */
export function isReadOnly(line: string): boolean {
  const { runs, issues } = parseLine(line);
  return issues.length === 0 && runs.length > 0 &&
    runs.every(({ program, writes }) =>
      READ_ONLY_PROGRAM.test(program) && writes.every(({ path }) => path === "/dev/null")
    );
}

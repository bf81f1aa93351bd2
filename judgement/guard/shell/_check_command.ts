/** Checks a command line: parses it, and applies the rules of the programs it would run. */
import type { Objection } from "../types.ts";
import { checkCode } from "./_code.ts";
import { writeObjections } from "./_files.ts";
import { readFile } from "./_operands.ts";
import { judgeRun, type RunJudgement } from "./_judge.ts";
import { findProgram } from "./_programs.ts";
import { ask, deny } from "./_rule.ts";
import { checkSql } from "./_sql.ts";
import { DOWNLOADED } from "./_state.ts";
import { type LineIssue, type Run, type Target, UNKNOWN } from "./_types.ts";
import { checkWindowsFiles } from "./_windows_files.ts";
import { parseLine } from "./_walk.ts";
import { checkWindows, isWindowsLine, unknownWindows } from "./_windows.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("statements", [
  "sql",
]);

/** Levels of program text within program text. */
const MAX_CODE_DEPTH = 3;
const MAX_OBJECTIONS = 12;

const ISSUE_OBJECTIONS: Readonly<Record<LineIssue, () => Objection>> = {
  too_long: () => ask("unseen", "The command is longer than can be read"),
  too_deep: () => ask("unseen", "The command is nested more deeply than can be read"),
  not_parsed: () => ask("unseen", "The command is not complete shell text"),
  fork_bomb: () => deny("outage", "It starts itself again and again, without end"),
  hidden_program: () =>
    ask("unseen", "Which program it runs is hidden in a variable, a pattern or another program"),
  runs_unseen: () => ask("unseen", "It runs text that can't be seen beforehand"),
  runs_downloaded: () => deny("remote_code", "It runs what it downloads"),
  runs_decoded: () => deny("unseen", "It runs text that is hidden by an encoding"),
  prints_secret: () => ask("secret", "It prints a variable that holds a password or a key"),
};

/** A line that is a statement of a database rather than of a shell. */
const SQL = expressions.sql;
const STOPPED = /^(stop|down|kill|offline)$/;
const STARTED = /^(start|restart|up|online|reload-or-restart)$/;
/** Programs that undo what others do, on the same operand. */
const UNDOES: Readonly<Record<string, string>> = {
  ifdown: "ifup",
  swapoff: "swapon",
  umount: "mount",
  "stop-service": "start-service",
  "stop-website": "start-website",
  "stop-webapppool": "start-webapppool",
};

/** Tells whether a run stops what a later run starts again: a restart in two steps. */
function isStartedAgain(run: Run, runs: readonly Run[]): boolean {
  if (run.program === "shutdown" && run.args.length === 0) {
    return runs.some(({ program }) => program === "no");
  }
  const later = runs.slice(runs.indexOf(run) + 1);
  const undo = UNDOES[run.program];
  if (undo !== undefined) {
    const last = run.args.at(-1);
    return later.some(({ program, args }) => program === undo && args.includes(last!));
  }
  if (!run.args.some((arg) => STOPPED.test(arg))) return false;
  const units = run.args.filter((arg) => !STOPPED.test(arg) && !arg.startsWith("-"));
  const isWide = run.args.some((arg) => /^(-v|--volumes|--rmi|--force|\*)$/.test(arg));
  return !isWide &&
    later.some(({ program, args }) =>
      program === run.program && args.some((arg) => STARTED.test(arg)) &&
      units.every((unit) => args.includes(unit))
    );
}

/** Judgement of a line: its effects, as far as they are known. */
export interface CommandJudgement {
  readonly objections: readonly Objection[];
  /** Everything that it runs is known to only read. */
  readonly looks: boolean;
  readonly targets: readonly Target[];
}

/**
 * Judges a command.
 *
 * @param line a line of a POSIX shell, PowerShell or cmd; any length
 * @param depth of program text within program text
 */
export function judgeCommand(line: string, depth = 0): CommandJudgement {
  if (SQL.test(line)) return { objections: distinct(checkSql(line)), looks: false, targets: [] };
  const isWindows = isWindowsLine(line);
  const { runs, issues, code } = parseLine(line);
  const relevant = issues.filter((issue) =>
    !isWindows || issue !== "not_parsed" && issue !== "hidden_program"
  );
  const judged = runs.map((run) => {
    const judgement = judgeInFolder(run);
    const isAgain = isStartedAgain(run, runs);
    if (!isAgain && !isWindows) return judgement;
    // Windows: `unknownWindows` tells what is not known.
    const isKnown = findProgram(run.program) !== undefined;
    const stays = ({ code }: Objection) =>
      isAgain ? code === "unknown" : isKnown || code !== "unknown";
    return { ...judgement, objections: judgement.objections.filter(stays) };
  });
  const targets = distinctTargets(
    judged.flatMap(({ targets, looks }) => targets.filter(({ kind }) => !looks || kind === "host")),
  );
  const objections = [
    ...runs.flatMap(commonObjections),
    ...judged.flatMap(({ objections }) => objections),
    ...relevant.map((issue) => ISSUE_OBJECTIONS[issue]()),
    ...checkWindows(line),
    ...(isWindows ? [...unknownWindows(line), ...checkWindowsFiles(line)] : []),
    ...manyTargets(targets),
    ...(depth < MAX_CODE_DEPTH
      ? code.flatMap(({ language, text }) => checkInnerCode(language, text, depth))
      : code.length > 0
      ? [ISSUE_OBJECTIONS.too_deep()]
      : []),
  ];
  return {
    objections: distinct(objections).slice(0, MAX_OBJECTIONS),
    looks: issues.length === 0 && runs.length > 0 && judged.every(({ looks }) => looks) &&
      runs.every(({ writes }) => writes.every(({ path }) => path === "/dev/null")),
    targets,
  };
}

/** Judges a run in its folder, and in an unknown one where the line may not have got there. */
function judgeInFolder(run: Run): RunJudgement {
  const judgement = judgeRun(run);
  if (run.isFolderSure) return judgement;
  const { objections } = judgeRun({ ...run, folder: undefined });
  return { ...judgement, objections: [...judgement.objections, ...objections] };
}

/** Returns objections to a command; see {@linkcode judgeCommand}. */
export function checkCommand(line: string): readonly Objection[] {
  return judgeCommand(line).objections;
}

function checkInnerCode(language: string, text: string, depth: number): readonly Objection[] {
  if (language === "powershell" || language === "cmd") {
    return [
      ...checkWindows(text),
      ...unknownWindows(text),
      ...checkWindowsFiles(text),
      ...judgeCommand(text, depth + 1).objections.filter(({ weight }) => weight === "deny"),
    ];
  }
  const { found, lines } = checkCode(text, language);
  const denied = lines.flatMap((line) => judgeCommand(line, depth + 1).objections)
    .filter(({ weight }) => weight === "deny");
  return [...found, ...denied];
}

/** Objects to acting on several things at once. A socket and its service count as one. */
function manyTargets(targets: readonly Target[]): Objection[] {
  const kinds = new Map<string, Set<string>>();
  for (const { kind, name } of targets) {
    const stem = name.replace(/\.(service|socket|timer|path)$/, "");
    kinds.set(kind, (kinds.get(kind) ?? new Set()).add(stem));
  }
  return [...kinds].filter(([kind, names]) => kind !== "database" && names.size > 1).map((
    [kind, names],
  ) =>
    ask("outage", `It acts on ${names.size} ${kind}s at once: ${[...names].slice(0, 3).join(", ")}`)
  );
}

function distinctTargets(all: readonly Target[]): Target[] {
  return [...new Map(all.map((one) => [`${one.kind} ${one.name}`, one])).values()];
}

/** Returns objections that do not depend on the program. */
function commonObjections(run: Run): Objection[] {
  const { program, args, writes, input } = run;
  const inFolders = run.isFolderSure ? [run] : [run, { ...run, folder: undefined }];
  const objections = inFolders.flatMap((one) =>
    writes.flatMap(({ path, appends }) =>
      writeObjections(path, one, appends ? "adds" : "overwrites")
    )
  );
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
  const isLarge = program === "head" &&
    args.some((arg) => /^-?c?\d{3,}[GT]|^-?c?\d+[TPE]/.test(arg)) &&
    args.some((arg) => /^\/dev\/(zero|u?random)$/.test(arg));
  if (isEndless || isLarge) objections.push(ask("outage", "It writes without end"));
  if (input?.path !== undefined) objections.push(...readFile(input.path));
  // A redirection alone only asks whether a port answers.
  if (program !== ":" && /^\/dev\/(tcp|udp)\//.test(input?.path ?? "")) {
    objections.push(...writeObjections(input!.path!, run, "adds"));
  }
  const hidesRemoval = program.includes(UNKNOWN) &&
    args.some((arg) => /^-[a-z]*r[a-z]*f|^-[a-z]*f[a-z]*r|^\/$/.test(arg));
  if (hidesRemoval) {
    objections.push(
      deny("unseen", "A program whose name is hidden gets the arguments of a removal"),
    );
  }
  return objections;
}

function distinct(all: readonly Objection[]): Objection[] {
  const first = new Map<string, Objection>();
  for (const one of all) {
    const key = `${one.weight} ${one.reason}`;
    if (!first.has(key)) first.set(key, one);
  }
  return [...first.values()];
}

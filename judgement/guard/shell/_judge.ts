/** Judges one program's run by what is known of the program: allowed where everything is known to be harmless. */
import type { Objection } from "../types.ts";
import { judgeEnvironment } from "./_environment.ts";
import { KINDS } from "./_kinds.ts";
import type { Kind } from "./_operands.ts";
import { readArguments } from "./_option_values.ts";
import { findProgram, type Form, type FormRule, isVerbWord, type Program } from "./_programs.ts";
import { displayPath } from "./_removal.ts";
import { ask, deny } from "./_rule.ts";
import { type Inner, type Run, type Target, UNKNOWN } from "./_types.ts";
import { unwrap } from "./_wrappers.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("runs", [
  "program_folder",
]);

/** Judgement of a run: its effects, as far as they are known. */
export interface RunJudgement {
  readonly objections: readonly Objection[];
  /** It only reads. */
  readonly looks: boolean;
  readonly targets: readonly Target[];
}

/** Folders of programs that the host's packages install. */
const PROGRAM_FOLDER = expressions.program_folder;
const DESTRUCTIVE_WORD =
  /^-{0,2}(delete|destroy|destroy-all|wipe|erase|nuke|drop|factory-?reset|purge-?all|delete-?all|remove-?all|drop-?all|flush-?all|teardown|terminate|no-preserve-root|format)$/i;

/** Judges a run. */
export function judgeRun(run: Run): RunJudgement {
  const environment = judgeEnvironment(run.environment);
  const script = /^\/etc\/(?:init|rc)\.d\/([\w.-]+)$/.exec(run.path)?.[1];
  if (script !== undefined) {
    return judgeRun({ ...run, program: "service", path: "service", args: [script, ...run.args] });
  }
  const known = findProgram(run.program);
  if (!known || isElsewhere(run)) {
    return { objections: [...environment, ...unknownProgram(run)], looks: false, targets: [] };
  }
  if (known.as) {
    const [program = "", ...words] = known.as;
    return judgeRun({ ...run, path: program, program, args: [...words, ...run.args] });
  }
  const found = judgeKnown(run, known);
  return { ...found, objections: [...environment, ...found.objections] };
}

/** Tells whether a run's file lies where anybody may have put it, whatever its name. */
function isElsewhere({ path }: Run): boolean {
  return path.includes("/") && !PROGRAM_FOLDER.test(path) && path !== "./gradlew";
}

function unknownProgram({ path, args }: Run): Objection[] {
  if (args.some((arg) => DESTRUCTIVE_WORD.test(arg))) {
    return [deny("destroys", "By its words, a program that is not known destroys something")];
  }
  return [ask("unknown", `What \`${displayPath(path)}\` does is not known`)];
}

function judgeKnown(run: Run, known: Program): RunJudgement {
  const text = ` ${run.args.join(" ")} `;
  const isWrapper = known.wraps !== undefined;
  const { form, skips, isVerb } = findForm(run.args, known);
  const objections = [
    ...ruleObjections(text, known),
    ...(isVerb ? ruleObjections(text, form!) : []),
  ];
  if (!form) {
    const word = displayPath(run.args.find((arg) => !arg.startsWith("-")) ?? "");
    objections.push(ask("unknown", `What \`${run.program} ${word}\` does is not known`));
    return { objections, looks: false, targets: [] };
  }
  const inner = unwrap(run.program, run.args);
  const own = form.args === "wrapped"
    ? ownArguments(run.args, inner)
    : form.args === "find"
    ? withoutCommands(run.args)
    : form.args === "code"
    ? beforeProgramText(run.args)
    : run.args;
  const hasRest = KEEPS_REST.has(form.args ?? "");
  const read = readArguments(own, form.options, isWrapper && !known.wraps!.verb || hasRest);
  const operands = hasRest ? read.rest : read.operands.filter((_, n) => !skips(n));
  for (const name of read.unknown) {
    objections.push(
      ask("unknown", `What \`${run.program} ${displayPath(name)}\` does is not known`),
    );
  }
  const targets: Target[] = [];
  let looks = true;
  const apply = (kind: Kind, words: readonly string[]) => {
    looks &&= typeof kind.looks === "function" ? kind.looks(run) : kind.looks === true;
    objections.push(...kind.check?.(words, run, read) ?? []);
    if (kind.target) targets.push(...targetsOf(kind, words));
  };
  for (const { name, kind, value } of read.values) {
    if (kind.startsWith("/")) {
      if (!new RegExp(`^(?:${kind.slice(1, -1)})$`).test(value)) {
        const option = displayPath(`${name} ${value}`);
        objections.push(ask("unknown", `What \`${run.program} ${option}\` does is not known`));
      }
    } else apply(kindOf(kind), [value]);
  }
  if (isWrapper && known.wraps!.remote && read.rest[0] !== undefined) {
    if (/[\uE000\uE001{}]/.test(read.rest[0])) {
      objections.push(ask("outage", "Which hosts it reaches can't be known"));
    }
    targets.push({ kind: "host", name: hostName(read.rest[0]) });
  }
  if (form.args !== undefined) apply(kindOf(form.args), operands);
  else if (run.program === "env" && inner.length === 0) {
    objections.push(ask("secret", "It prints the environment, with passwords among it"));
  } else if (
    isWrapper && inner.length === 0 && (read.rest.length > 0 || /^(su|sudo)$/.test(run.program))
  ) {
    if (!/^(-l|--list|-[vV]|--version|-h|--help)$/.test(run.args[0] ?? "")) {
      objections.push(ask("unseen", `What \`${run.program}\` is to run is not said`));
    }
  }
  return { objections, looks, targets };
}

/** Kinds of operands after which no option of the program itself follows. */
const KEEPS_REST = new Set(["table_verbs", "code", "shell"]);

/** Returns the arguments of `find` without those of the programs that it runs, which are judged themselves. */
function withoutCommands(args: readonly string[]): readonly string[] {
  let isInside = false;
  return args.filter((arg) => {
    const wasInside = isInside;
    if (/^(-(exec|execdir|ok|okdir|x|X)|--exec|--exec-batch)$/.test(arg)) isInside = true;
    else if (arg === ";" || arg === "+") isInside = false;
    return !wasInside;
  });
}

/** Returns the arguments of an interpreter up to its program: `-c text`, `-m module`; others belong to that. */
function beforeProgramText(args: readonly string[]): readonly string[] {
  const at = args.findIndex((arg) => /^-\w*[mc]$/.test(arg));
  return at < 0 ? args : args.slice(0, at + 2);
}

/** Returns the arguments before those of the program that a run wraps. */
function ownArguments(args: readonly string[], [inner]: readonly Inner[]): readonly string[] {
  const end = args.indexOf("--");
  if (end >= 0) return args.slice(0, end);
  return inner && "argv" in inner ? args.slice(0, args.length - inner.argv.length) : args;
}

/** Returns the form of the verb that the operands begin with, or the program's own; undefined: there is none. */
function findForm(args: readonly string[], known: Program) {
  const own = { form: known as Form, skips: (_: number): boolean => false, isVerb: false };
  if (!known.verbs) return own;
  const words = readArguments(args, known.options).operands;
  for (const { words: verb, form } of known.verbs) {
    if (verb.length === 0 && words.length > 0 || verb.length > words.length) continue;
    if (verb.every((word, n) => isVerbWord(word, words[n]!))) {
      const skips = (n: number) => n < verb.length && !verb[n]!.isName;
      return { form, skips, isVerb: true };
    }
  }
  return known.args === undefined ? { ...own, form: undefined } : own;
}

function ruleObjections(text: string, { ask: asks, deny: denies }: Form): Objection[] {
  const matching = (rules: readonly FormRule[]) =>
    rules.filter(({ pattern }) => !pattern || pattern.test(text));
  return [
    ...matching(denies).map(({ kind, reason }) => deny(kind, reason)),
    ...matching(asks).map(({ kind, reason }) => ask(kind, reason)),
  ];
}

function kindOf(name: string): Kind {
  const kind = KINDS[name];
  if (!kind) throw new Error(`Cannot judge arguments of the kind "${name}": there is none`);
  return kind;
}

function targetsOf({ target, names }: Kind, words: readonly string[]): Target[] {
  return (names ?? ((all: readonly string[]) => all))(words)
    .filter((name) => name !== "" && !name.includes(UNKNOWN))
    .map((name) => ({ kind: target!, name: target === "host" ? hostName(name) : name }));
}

/** Returns the host of `user@host:port`. */
function hostName(text: string): string {
  return text.replace(/^\w+:\/\//, "").replace(/^.*@/, "").replace(/[:/].*$/, "");
}

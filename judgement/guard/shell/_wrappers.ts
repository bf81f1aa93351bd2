/** Programs that run other programs, which are read from their arguments. */
import { readArguments } from "./_option_values.ts";
import { findProgram, type Program } from "./_programs.ts";
import { SPECIAL_WRAPPERS } from "./_special_wrappers.ts";
import type { Assignment, Inner } from "./_types.ts";

const SHELLS = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "ash",
  "mksh",
  "fish",
  "rbash",
  "csh",
  "tcsh",
]);
/** Interpreters by name, with the option for program text, and their language. */
const INTERPRETERS: readonly [RegExp, RegExp, string][] = [
  [/^(python|pypy)[\d.]*$/, /^-\w*c$/, "python"],
  [/^perl[\d.]*$/, /^-\w*[eE]$/, "perl"],
  [/^ruby[\d.]*$/, /^-\w*e$/, "ruby"],
  [/^(node|nodejs|deno|bun)$/, /^(-e|-p|--eval|-pe|--print|eval)$/, "javascript"],
  [/^php[\d.]*$/, /^-r$/, "php"],
  [/^lua[\d.]*$/, /^-e$/, "lua"],
  [/^(pwsh|powershell)$/, /^[-/]c/i, "powershell"],
  [/^(osascript)$/, /^-e$/, "applescript"],
  [/^(Rscript|r)$/i, /^-e$/, "r"],
];

/** Tells whether a program reads shell text. */
export function isShell(program: string): boolean {
  return SHELLS.has(program);
}

/** Returns the language of an interpreter; undefined: the program is none. */
export function languageOf(program: string): string | undefined {
  return INTERPRETERS.find(([name]) => name.test(program))?.[2];
}

/** Returns everything that a program would run, by its arguments. */
export function unwrap(program: string, args: readonly string[]): Inner[] {
  if (isShell(program)) return unwrapShell(args);
  const special = Object.hasOwn(SPECIAL_WRAPPERS, program)
    ? SPECIAL_WRAPPERS[program]!(args)
    : undefined;
  if (special) return special;
  const interpreter = INTERPRETERS.find(([name]) => name.test(program));
  if (interpreter) return unwrapInterpreter(args, interpreter);
  const known = findProgram(program);
  return known?.wraps ? unwrapStandard(args, known) : [];
}

function unwrapStandard(args: readonly string[], { options, wraps }: Program): Inner[] {
  const { verb, operands, joins, remote } = wraps!;
  const { rest } = readArguments(args, options, true);
  if (verb !== undefined && !rest.join(" ").startsWith(`${verb} `)) return [];
  const inner = rest.slice(operands);
  const start = inner.findIndex((arg) => !/^\w+=/.test(arg));
  const argv = start < 0 ? [] : inner.slice(start);
  const environment = inner.slice(0, start < 0 ? undefined : start).map((arg): Assignment => {
    const at = arg.indexOf("=");
    return { name: arg.slice(0, at), value: arg.slice(at + 1), isExported: true };
  });
  if (argv.length === 0 && environment.length === 0) return [];
  return joins ? [{ script: argv.join(" "), remote }] : [{ argv, remote, environment }];
}

function unwrapShell(args: readonly string[]): Inner[] {
  const at = args.findIndex((arg) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(arg) && !arg.startsWith("--"));
  const text = at < 0 ? undefined : args.slice(at + 1).find((arg) => !arg.startsWith("-"));
  return text === undefined ? [] : [{ script: text }];
}

function unwrapInterpreter(
  args: readonly string[],
  [, option, language]: typeof INTERPRETERS[number],
): Inner[] {
  if (language === "powershell") return unwrapPowershell(args);
  const at = args.findIndex((arg) => option.test(arg));
  const text = args[at + 1];
  if (at >= 0) return text === undefined ? [] : [{ code: text, language }];
  const script = args.findIndex((arg) => !arg.startsWith("-"));
  const name = args[script]?.replace(/^.*\//, "") ?? "";
  const isKnown = !/^(\/tmp|\/var\/tmp|\/dev|~)\//.test(args[script] ?? "") &&
    findProgram(name)?.verbs;
  return isKnown ? [{ argv: [name, ...args.slice(script + 1)] }] : [];
}

function unwrapPowershell(args: readonly string[]): Inner[] {
  const encoded = args.findIndex((arg) => /^[-/]e(c|nc\w*)?$/i.test(arg));
  if (encoded >= 0) {
    const text = Buffer.from(args[encoded + 1] ?? "", "base64").toString("utf16le");
    return [{ code: text, language: "powershell" }];
  }
  const at = args.findIndex((arg) => /^[-/]c(ommand)?$/i.test(arg));
  const text = at < 0
    ? args.filter((arg) => !arg.startsWith("-")).join(" ")
    : args.slice(at + 1).join(" ");
  return text === "" ? [] : [{ code: text, language: "powershell" }];
}

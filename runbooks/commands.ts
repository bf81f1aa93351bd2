import { accessSync, constants } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import type { AllowedCommand, CommandAct } from "./schema.ts";

/** Programs that run what they are given. Allowing one of them would allow everything. */
const INTERPRETERS = new Set(
  `sh bash dash zsh ksh csh tcsh fish ash busybox env xargs nohup setsid timeout nice ionice sudo su doas
   setpriv runuser chroot nsenter unshare ssh watch perl ruby lua node deno php awk gawk mawk sed find tee
   dd eval exec`.split(/\s+/),
);
const PYTHON = /^python[\d.]*$/;

/** Folders in which programs are searched. No other user may write to them. */
const PROGRAM_FOLDERS = [
  "/usr/local/sbin",
  "/usr/local/bin",
  "/usr/sbin",
  "/usr/bin",
  "/sbin",
  "/bin",
];

/** Answer to whether a command may run. */
export type CommandPermission =
  | { readonly allowed: true; readonly program: string }
  | { readonly allowed: false; readonly code: "not_allowed" | "no_program" | "user_not_allowed" };

/** Returns whether a program runs what it is given, so that no allow-list may name it. */
export function isInterpreter(program: string): boolean {
  const name = basename(program);
  return INTERPRETERS.has(name) || PYTHON.test(name);
}

/**
 * Checks a command against the allow-list. Whole arguments are compared, so that nothing can be added to one.
 *
 * @returns the program's absolute path, or why it may not run
 */
export function checkCommand(
  { argv: [name, ...args], user }: Pick<CommandAct, "argv" | "user">,
  commands: readonly AllowedCommand[],
): CommandPermission {
  const matching = commands.filter((entry) => matches(entry, name!, args));
  if (matching.length === 0) return { allowed: false, code: "not_allowed" };
  if (user !== undefined && !matching.some(({ users }) => users.includes(user))) {
    return { allowed: false, code: "user_not_allowed" };
  }
  const program = findProgram(name!);
  return program ? { allowed: true, program } : { allowed: false, code: "no_program" };
}

function matches(
  { argv: [name, ...listed], more }: AllowedCommand,
  program: string,
  args: readonly string[],
): boolean {
  if (name !== program || args.some((arg) => arg.includes("\0"))) return false;
  if (args.length < listed.length) return false;
  if (args.length > listed.length && more === undefined) return false;
  return args.every((arg, i) =>
    i < listed.length ? matchesArgument(listed[i]!, arg) : wholePattern(more!).test(arg)
  );
}

function matchesArgument(listed: string, arg: string): boolean {
  const isPattern = listed.length > 2 && listed.startsWith("/") && listed.endsWith("/");
  return isPattern ? wholePattern(listed.slice(1, -1)).test(arg) : listed === arg;
}

function wholePattern(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`, "s");
}

/** Returns the program's file; undefined: this host has none. */
function findProgram(name: string): string | undefined {
  const paths = isAbsolute(name) ? [name] : PROGRAM_FOLDERS.map((folder) => join(folder, name));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

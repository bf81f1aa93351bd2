import { accessSync, constants } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { withRealPath } from "./_real_paths.ts";
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
  | {
    readonly allowed: true;
    readonly program: string;
    /** Its arguments, in which files and folders have their real paths. */
    readonly args: readonly string[];
  }
  | { readonly allowed: false; readonly code: "not_allowed" | "no_program" | "user_not_allowed" };

/** Returns whether a program runs what it is given, so that no allow-list may name it. */
export function isInterpreter(program: string): boolean {
  const name = basename(program);
  return INTERPRETERS.has(name) || PYTHON.test(name);
}

/**
 * Checks a command against the allow-list. Whole arguments are compared, so that nothing can be added to one; and where a
 * pattern bounds a path, it bounds the real one, too.
 *
 * @returns the program's absolute path and its arguments, or why it may not run
 */
export function checkCommand(
  { argv: [name, ...args], user }: Pick<CommandAct, "argv" | "user">,
  commands: readonly AllowedCommand[],
): CommandPermission {
  const matching = commands.flatMap((entry) => {
    const matched = matchArguments(entry, name!, args);
    return matched ? [{ users: entry.users, matched }] : [];
  });
  if (matching.length === 0) return { allowed: false, code: "not_allowed" };
  const entry = matching.find(({ users }) => user === undefined || users.includes(user));
  if (!entry) return { allowed: false, code: "user_not_allowed" };
  const program = findProgram(name!);
  return program
    ? { allowed: true, program, args: entry.matched }
    : { allowed: false, code: "no_program" };
}

/** Returns the arguments as they are run; undefined: the entry does not allow them. */
function matchArguments(
  { argv: [name, ...listed], more }: AllowedCommand,
  program: string,
  args: readonly string[],
): string[] | undefined {
  if (name !== program || args.some((arg) => arg.includes("\0"))) return undefined;
  if (args.length < listed.length) return undefined;
  if (args.length > listed.length && more === undefined) return undefined;
  const matched = args.map((arg, i) =>
    i < listed.length ? matchArgument(listed[i]!, arg) : matchPattern(more!, arg)
  );
  return matched.every((arg) => arg !== undefined) ? matched : undefined;
}

function matchArgument(listed: string, arg: string): string | undefined {
  const isPattern = listed.length > 2 && listed.startsWith("/") && listed.endsWith("/");
  if (isPattern) return matchPattern(listed.slice(1, -1), arg);
  return listed === arg ? arg : undefined;
}

function matchPattern(pattern: string, arg: string): string | undefined {
  const whole = wholePattern(pattern);
  const real = whole.test(arg) ? withRealPath(arg) : undefined;
  return real !== undefined && whole.test(real) ? real : undefined;
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

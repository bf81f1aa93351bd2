import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { AllowedCommand, CommandAct } from "./schema.ts";

/** Programs that run what they are told to, so that allowing them would allow everything. */
export const FORBIDDEN_PROGRAMS =
  /^((ba|da|z|k|c|tc|fi|a)?sh|busybox|env|xargs|nohup|setsid|timeout|nice|ionice|sudo|su|doas|setpriv|runuser|chroot|nsenter|unshare|ssh|watch|perl|python[\d.]*|ruby|lua|node|deno|php|g?awk|mawk|sed|find|tee|dd|eval|exec)$/;

/** Where programs are looked for; never in a folder that somebody else may write to. */
const PATH = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Whether a command may run, or why not. */
export type CommandPermission =
  | { readonly allowed: true; readonly program: string }
  | { readonly allowed: false; readonly code: "not_allowed" | "no_program" | "user_not_allowed" };

/**
 * Holds a command against the allow-list. Whole arguments are compared, so nothing can be added to one.
 *
 * @returns the program's absolute path, or why it may not run
 */
export function checkCommand(
  { argv: [name, ...args], user }: Pick<CommandAct, "argv" | "user">,
  commands: readonly AllowedCommand[],
): CommandPermission {
  const fitting = commands.filter((entry) => fits(entry, name!, args));
  if (fitting.length === 0) return { allowed: false, code: "not_allowed" };
  if (user !== undefined && !fitting.some(({ users }) => users.includes(user))) {
    return { allowed: false, code: "user_not_allowed" };
  }
  const program = find(name!);
  return program ? { allowed: true, program } : { allowed: false, code: "no_program" };
}

function fits({ argv: [name, ...listed], more }: AllowedCommand, program: string, args: string[]) {
  if (name !== program || args.some((arg) => arg.includes("\0"))) return false;
  if (args.length < listed.length || args.length > listed.length && more === undefined) {
    return false;
  }
  return args.every((arg, i) => i < listed.length ? is(listed[i]!, arg) : whole(more!).test(arg));
}

const is = (listed: string, arg: string) =>
  listed.length > 2 && listed.startsWith("/") && listed.endsWith("/")
    ? whole(listed.slice(1, -1)).test(arg)
    : listed === arg;

const whole = (pattern: string) => new RegExp(`^(?:${pattern})$`, "s");

/** The program's file, or undefined where this host has none. */
function find(name: string): string | undefined {
  const places = isAbsolute(name) ? [name] : PATH.map((folder) => join(folder, name));
  return places.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

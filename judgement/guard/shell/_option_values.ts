/** Reads arguments by what is known of a program's options. */
import { globPattern } from "./_programs.ts";

/** The value of an option, with its kind. */
interface OptionValue {
  readonly name: string;
  readonly kind: string;
  readonly value: string;
}

/** Arguments, told apart. */
export interface ReadArguments {
  readonly operands: readonly string[];
  readonly values: readonly OptionValue[];
  /** Options that are not known. */
  readonly unknown: readonly string[];
  /** Arguments from the first operand on. */
  readonly rest: readonly string[];
}

/** An option of Windows: `-Name:value`, `/S`. Its letters may be large or small. */
const WINDOWS_OPTION = /^-[A-Za-z]{3,}(:|$)|^\/[A-Za-z-]+(:|$)/;

/**
 * Reads arguments.
 *
 * @param options those that are known
 * @param stops whether what follows the first operand belongs to another program
 */
export function readArguments(
  args: readonly string[],
  options: ReadonlyMap<string, string>,
  stops = false,
): ReadArguments {
  const operands: string[] = [];
  const values: OptionValue[] = [];
  const unknown: string[] = [];
  const hasSwitches = () => [...options.keys()].some((name) => name.startsWith("/"));
  const kindOf = (name: string) =>
    options.get(name) ??
      (WINDOWS_OPTION.test(name)
        ? options.get(name.toLowerCase().replace(/:.*$/s, ""))
        : undefined);
  let n = 0;
  for (; n < args.length; n++) {
    const arg = args[n]!;
    if (arg === "--") {
      if (!stops) operands.push(...args.slice(n + 1));
      else n++;
      break;
    }
    if (arg.startsWith("/") && hasSwitches()) {
      if (kindOf(arg) !== "") unknown.push(arg);
      continue;
    }
    if (!/^-./.test(arg) || /^-\d+$/.test(arg) && kindOf(arg.slice(0, 2)) === undefined) {
      if (arg.startsWith("+") && kindOf(arg) !== undefined) continue;
      if (stops) break;
      if (!/^-\d/.test(arg)) operands.push(arg);
      continue;
    }
    const [, name, value] = /^(-[^=]*)(?:=(.*))?$/s.exec(arg)!;
    const kind = kindOf(name!);
    if (kind !== undefined || arg.startsWith("--")) {
      if (kind === undefined || kind === "" && value !== undefined) unknown.push(name!);
      else if (kind === "optional") continue;
      else if (kind.endsWith("pair")) {
        values.push({ name: name!, kind, value: args[n + 2] ?? "" });
        n += 2;
      } else if (kind !== "") {
        values.push({ name: name!, kind, value: value ?? args[++n] ?? "" });
      }
      continue;
    }
    const globbed = findGlob(arg, options);
    if (globbed) {
      values.push({ name: arg, kind: globbed, value: arg });
      continue;
    }
    n += readCluster(arg, args[n + 1]);
  }
  return { operands, values, unknown, rest: args.slice(n) };

  /** Reads `-xvf`. @returns 1 where its last letter takes the next argument */
  function readCluster(arg: string, next: string | undefined): number {
    for (let at = 1; at < arg.length; at++) {
      const name = `-${arg[at]}`;
      const kind = kindOf(name);
      if (kind === undefined) {
        unknown.push(arg);
        return 0;
      }
      if (kind === "") continue;
      if (kind === "optional") return 0;
      const inline = arg.slice(at + 1).replace(/^=/, "");
      values.push({ name, kind, value: inline === "" ? next ?? "" : inline });
      return inline === "" ? 1 : 0;
    }
    return 0;
  }
}

/** Returns the kind of an option that is written with its value, such as `-p*`. */
function findGlob(
  arg: string,
  options: ReadonlyMap<string, string>,
): string | undefined {
  for (const [name, kind] of options) {
    if (name.includes("*") && globPattern(name).test(arg)) return kind;
  }
  return undefined;
}

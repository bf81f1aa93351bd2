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
  /** Options that are not known, or that load or run something else. */
  readonly unknown: readonly string[];
  /** Arguments from the first operand on. */
  readonly rest: readonly string[];
}

/**
 * Long options that load or run something, or write a file. Where a program has them harmless, its entry lists them. They
 * may be abbreviated.
 */
const LOADS =
  `exec execute command cmd eval script shell rsh pager editor hook pre-hook post-hook deploy-hook plugin load preload module
   require include import config conf cfg config-file rcfile init-file init-command use-compress-program compress-program
   checkpoint-action to-command output outfile output-file log-file pidfile exec-path library agentpath javaagent preprocess
   filter-command chroot`.split(/\s+/);
const MIN_ABBREVIATION_LENGTH = 3;

function loads(option: string): boolean {
  const name = option.replace(/^-+/, "").toLowerCase();
  return name.length >= MIN_ABBREVIATION_LENGTH && LOADS.some((one) => one.startsWith(name));
}

/**
 * Reads arguments.
 *
 * @param options undefined: all are harmless, but for those that load or run something
 * @param stops whether what follows the first operand belongs to another program
 */
export function readArguments(
  args: readonly string[],
  options: ReadonlyMap<string, string> | undefined,
  stops = false,
): ReadArguments {
  const operands: string[] = [];
  const values: OptionValue[] = [];
  const unknown: string[] = [];
  const allowsAny = options === undefined || options.has("any");
  const kindOf = (name: string) => options?.get(name);
  const takeUnknown = (name: string) => {
    if (!allowsAny || loads(name)) unknown.push(name);
  };
  let n = 0;
  for (; n < args.length; n++) {
    const arg = args[n]!;
    if (arg === "--") {
      if (!stops) operands.push(...args.slice(n + 1));
      else n++;
      break;
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
      if (kind === undefined) takeUnknown(name!);
      else if (kind === "" && value !== undefined) takeUnknown(name!);
      else if (kind !== "") values.push({ name: name!, kind, value: value ?? args[++n] ?? "" });
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
        if (!allowsAny) unknown.push(arg);
        return 0;
      }
      if (kind === "") continue;
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
  options: ReadonlyMap<string, string> | undefined,
): string | undefined {
  for (const [name, kind] of options ?? []) {
    if (name.includes("*") && globPattern(name).test(arg)) return kind;
  }
  return undefined;
}

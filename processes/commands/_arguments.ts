import { resolve } from "node:path";
import { parseArgs, type ParseArgsConfig } from "node:util";
import { similarNames } from "../../contract/mod.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Arguments<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: O }>
>;

/** A mistake in a command's arguments. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Somebody asked for a command's usage, which is its message. */
export class UsageRequest extends Error {
  override readonly name = "UsageRequest";
}

/**
 * Parses a command's arguments.
 *
 * @param args default: those of this process
 * @throws {UsageRequest} `help` or `--help`
 * @throws {UsageError} an unknown option, or one without its value
 */
export function parseArguments<const O extends Options>(
  usage: string,
  options: O,
  args: string[] = process.argv.slice(2),
): Arguments<O> {
  if (args.includes("--help") || args.includes("-h") || args.length === 1 && args[0] === "help") {
    throw new UsageRequest(usage);
  }
  try {
    return parseArgs({ args, allowPositionals: true as const, options });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("ERR_PARSE_ARGS")) throw error;
    const [, unknown] = /^Unknown option '([^']+)'/.exec(message) ?? [];
    if (!unknown) throw new UsageError(message.split("\n")[0]);
    const [near] = similarNames(unknown, Object.keys(options).map((option) => `--${option}`));
    throw new UsageError(`There is no option ${unknown}${near ? `; did you mean ${near}?` : ""}`);
  }
}

/**
 * Prints why a command has failed.
 *
 * @param describe returns an error as a text; default: {@linkcode errorText}
 * @returns the command's exit code; 0 where the usage was asked for
 */
export function reportFailure(
  error: unknown,
  usage: string,
  describe: (error: Error) => string = (error) => errorText(error, usage),
  code = 1,
): number {
  if (error instanceof UsageRequest) {
    console.log(error.message);
    return 0;
  }
  console.error(describe(error as Error));
  return code;
}

/** Returns an error as a sentence for the operator: with the usage after a wrong argument, without system error codes. */
export function errorText(error: Error, usage: string): string {
  if (error instanceof UsageError) return `${error.message}\n\n${usage}`;
  const { code, path } = error as NodeJS.ErrnoException;
  const file = path === undefined ? "it" : resolve(path);
  if (code === "ENOENT") return `There is no file ${file}`;
  if (code === "EISDIR") return `${file} is a folder, not a file`;
  if (code === "EACCES") return `This user may not read ${file}`;
  return error.message;
}

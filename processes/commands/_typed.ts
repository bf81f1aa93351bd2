/** What is typed after a command's name, and what is said where that is wrong. */
import { resolve } from "node:path";
import { parseArgs, type ParseArgsConfig } from "node:util";
import { similarNames } from "../../contract/mod.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Given<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: O }>
>;

/** A mistake in what was typed. */
export class Misused extends Error {
  override readonly name = "Misused";
}

/**
 * The words after a command's name, taken apart; where help is asked for, the usage is shown and the process ends.
 *
 * @throws {Misused} one of the options is not there, or has no value
 */
export function readWords<const O extends Options>(
  name: string,
  usage: string,
  options: O,
): Given<O> {
  const args = process.argv.slice(process.argv.indexOf(name) + 1);
  if (args.includes("--help") || args.includes("-h")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ args, allowPositionals: true as const, options });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("ERR_PARSE_ARGS")) throw error;
    const [, unknown] = /^Unknown option '([^']+)'/.exec(message) ?? [];
    if (!unknown) throw new Misused(message.split("\n")[0]);
    const [near] = similarNames(unknown, Object.keys(options).map((option) => `--${option}`));
    throw new Misused(`There is no option ${unknown}${near ? `; did you mean ${near}?` : ""}`);
  }
}

/** What is wrong, as a person is told it: with the usage after a mistake in typing, and without a system's codes. */
export function sentenceOf(error: Error, usage: string): string {
  if (error instanceof Misused) return `${error.message}\n\n${usage}`;
  const { code, path } = error as NodeJS.ErrnoException;
  const file = path === undefined ? "it" : resolve(path);
  if (code === "ENOENT") return `There is no file ${file}`;
  if (code === "EISDIR") return `${file} is a folder, and no file`;
  if (code === "EACCES") return `${file} may not be read by this user`;
  return error.message;
}

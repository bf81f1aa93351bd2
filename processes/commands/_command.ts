/** What commands of operators share: they act on a platform that runs, or on the database that the environment names. */
import { userInfo } from "node:os";
import type { ParseArgsConfig } from "node:util";
import { loadConfig } from "../../config.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { appDatabase } from "../_local_database.ts";
import { told } from "../_told.ts";
import { Misused, readWords, sentenceOf } from "./_typed.ts";

/** Who is named in the receipts of what a command does. */
export const OPERATOR = "operator";

/** The user of this machine who gives the command, for what is sealed in private; through `sudo` the one who typed. */
export const userHere = (): string => process.env.SUDO_USER || userInfo().username;

/** The words after a command's name, taken apart. */
export interface Words {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

/**
 * Runs a command and ends the process: with 0, or with 1 and a sentence of what was wrong.
 *
 * @param name the word of `npm run`
 * @param usage shown where what was typed is not understood
 * @param work may open the platform's store
 */
export async function runCommand(
  name: string,
  usage: string,
  options: NonNullable<ParseArgsConfig["options"]>,
  work: (open: () => Store, words: Words) => Promise<void>,
): Promise<never> {
  let code = 0;
  try {
    const { positionals, values } = readWords(name, usage, options);
    let store: Store | undefined;
    const open = () => store ??= openStore(appDatabase(loadConfig(process.env)), "app", 2);
    try {
      await work(open, { words: positionals, options: values as Words["options"] });
    } finally {
      await store?.close();
    }
  } catch (error) {
    code = 1;
    console.error(told(error) ?? sentenceOf(error as Error, usage));
  }
  process.exit(code);
}

/** Seconds of a duration such as `90d`, `12h`, `30m` or `0`. @throws {Misused} it is none */
export function seconds(text: string): number {
  const [, count, unit = "s"] = /^(\d{1,6})([smhd]?)$/.exec(text) ?? [];
  if (count === undefined) throw new Misused(`${text} is no duration like 90d, 12h or 30m`);
  return Number(count) * { s: 1, m: 60, h: 3_600, d: 86_400 }[unit || "s"]!;
}

/** Rows below each other, each column as wide as it needs. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) =>
    row.map((text, column) => text.padEnd(widths[column]!)).join("  ").trimEnd()
  ).join("\n");
}

import type { ParseArgsConfig } from "node:util";
import { toLine } from "../../contract/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { localDatabaseUrl } from "../_local_database.ts";
import { operatorErrorText } from "../_operator_error.ts";
import { runToEnd } from "../_end.ts";
import { loadRunningConfig } from "../_running.ts";
import { errorText, parseArguments, reportFailure, UsageError } from "./_arguments.ts";

/** Arguments of a command. */
export interface CommandArguments {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
}

/**
 * Runs an operator's command on the platform's store and ends the process: with 0, or with 1 and a sentence that says what
 * is wrong.
 *
 * @param usage printed after a wrong argument
 * @param work may open the store
 */
export async function runCommand(
  usage: string,
  options: NonNullable<ParseArgsConfig["options"]>,
  work: (openStore: () => Store, args: CommandArguments) => Promise<void>,
): Promise<never> {
  return await runToEnd(async () => {
    try {
      const { positionals, values } = parseArguments(usage, options);
      let store: Store | undefined;
      const open = () =>
        store ??= openStore(
          localDatabaseUrl(loadRunningConfig(process.env), "operator"),
          "operator",
          2,
        );
      try {
        await work(open, { words: positionals, options: values as CommandArguments["options"] });
      } finally {
        await store?.close();
      }
      return 0;
    } catch (error) {
      const describe = (error: Error) => operatorErrorText(error) ?? errorText(error, usage);
      return reportFailure(error, usage, describe);
    }
  });
}

/**
 * Parses a duration such as `90d`, `12h`, `30m` or `0`.
 *
 * @returns seconds
 * @throws {UsageError} it is not a duration
 */
export function parseSeconds(text: string): number {
  const [, count, unit = "s"] = /^(\d{1,6})([smhd]?)$/.exec(text) ?? [];
  if (count === undefined) throw new UsageError(`${text} is not a duration like 90d, 12h or 30m`);
  return Number(count) * { s: 1, m: 60, h: 3_600, d: 86_400 }[unit || "s"]!;
}

/** Formats rows as text, each column as wide as its longest cell. Strangers' names can't pass for rows or steer a terminal. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const all = [head, ...rows].map((row) => row.map(toLine));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) =>
    row.map((text, column) => text.padEnd(widths[column]!)).join("  ").trimEnd()
  ).join("\n");
}

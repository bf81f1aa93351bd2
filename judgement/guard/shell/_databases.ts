/** Judges operands and input of clients of databases and caches. */
import type { Objection } from "../types.ts";
import { checkCode } from "./_code.ts";
import type { ReadArguments } from "./_option_values.ts";
import { ask, deny } from "./_rule.ts";
import { checkDocumentCommands, checkSql } from "./_sql.ts";
import { type Run, UNKNOWN } from "./_types.ts";

const MAX_KEYS = 20;

/** Judges what a client reads: statements from a pipe, or nothing at all, so that a person would type them. */
export function checkClient(
  _words: readonly string[],
  { input, args }: Run,
  { values }: Pick<ReadArguments, "values">,
): Objection[] {
  if (input !== undefined) {
    return input.text === undefined || input.text.includes(UNKNOWN)
      ? [ask("unseen", "The statements that it runs can't be seen")]
      : checkSql(input.text);
  }
  // `psql -l` lists databases.
  if (args.some((arg) => /^(-[qtAX]*l[qtAX]*|--list|--version)$/.test(arg))) return [];
  const isAsked = values.some(({ kind }) => /^(sql|documents)$/.test(kind));
  return isAsked ? [] : [ask("unseen", "It opens a client, in which anything can be typed")];
}

/** Judges statements of a document store. */
export function checkDocuments(text: string): Objection[] {
  const found = checkDocumentCommands(text);
  return found.length > 0 ? found : checkCode(text, "documents").found;
}

/** Judges the removal of keys: those that are named, or those of a specific pattern that the client lists. */
export function listedKeys(words: readonly string[], { input }: Run): Objection[] {
  if (words.length > MAX_KEYS || words.some((word) => /^\**$/.test(word))) {
    return [ask("data", "It removes keys that are not named")];
  }
  if (words.length > 0 && !words.some((word) => word.includes(UNKNOWN))) return [];
  const lister = input?.from.find(({ program, args }) =>
    /^(redis|valkey)-cli$/.test(program) && args.some((arg) => /^(--scan|keys|scan)$/i.test(arg))
  );
  if (!lister) return [ask("data", "It removes keys that are not named")];
  const at = lister.args.findIndex((arg) => /^(--pattern|keys|match)$/i.test(arg));
  const letters = at < 0 ? "" : (lister.args[at + 1] ?? "").replace(/[^\p{L}\p{N}]/gu, "");
  if (letters.length >= 3) return [];
  return [deny("data", "It empties the cache or database of all keys")];
}

/** Expressions over text, from `expressions.yaml`: lists of words and of forms, one a line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../config.ts";

const LIST = z.array(z.string().min(1)).min(1);
const FLAGS = z.string().regex(/^[dgimsu]*$/).default("");
const EXPRESSION = z.union([
  z.strictObject({ flags: FLAGS, words: LIST }).transform(({ flags, words }) =>
    new RegExp(`(?<![\\p{L}])(?:${words.join("|")})(?![\\p{L}])`, flags)
  ),
  z.strictObject({
    flags: FLAGS,
    before: z.string().default(""),
    forms: LIST,
    after: z.string().default(""),
  }).transform(({ flags, before, forms, after }) =>
    new RegExp(before + forms.join("|") + after, flags)
  ),
  z.strictObject({ list: LIST }).transform(({ list }) => {
    const words = list.map((word) => word.replaceAll("\\w", "[\\p{L}\\p{N}]"));
    return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  }),
]);
const FILE = z.record(z.string(), z.record(z.string(), EXPRESSION));

let file: z.output<typeof FILE> | undefined;

/**
 * Returns expressions by their names.
 *
 * @throws one of them is not in the file
 */
export function readExpressions<Name extends string>(
  group: string,
  names: readonly Name[],
): Readonly<Record<Name, RegExp>> {
  file ??= FILE.parse(
    parse(readFileSync(join(ROOT, "judgement", "guard", "expressions.yaml"), "utf8")),
  );
  const all = file[group] ?? {};
  return Object.fromEntries(names.map((name) => {
    const found = all[name];
    if (found === undefined) throw new Error(`Cannot read expressions.yaml: no ${group}.${name}`);
    return [name, found];
  })) as Record<Name, RegExp>;
}

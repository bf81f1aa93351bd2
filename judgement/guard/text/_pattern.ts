/** Patterns for text that is meant to steer the judge, from `tricks.yaml`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../../config.ts";

const TRICK = z.enum([
  "overrides instructions",
  "changes the role",
  "dictates the verdict",
  "imitates the system",
  "asks for what is confidential",
  "asks to conceal",
]);
const FORM = z.strictObject({
  form: z.string(),
  reportable: z.boolean().default(true),
  needs: z.array(z.string()).optional(),
});
const FILE = z.strictObject({
  overrides: z.array(z.strictObject({
    verbs: z.string(),
    orders: z.string(),
    which: z.string(),
    verbs_last: z.boolean().default(false),
  })),
  patterns: z.record(
    TRICK,
    z.array(z.union([z.string().transform((form) => FORM.parse({ form })), FORM])),
  ),
});

/** An attempt of such text. */
export type Trick = z.output<typeof TRICK>;

/** A form of such text. */
export interface Pattern {
  readonly trick: Trick;
  readonly test: RegExp;
  /** A sentence that only reports it is harmless. */
  readonly reportable: boolean;
  /** Faster expressions that match every text that this pattern matches. */
  readonly needs?: readonly RegExp[] | undefined;
}

/** The beginning of a word, as a regular expression. */
export const START = "(?<![\\p{L}\\p{N}_])";
const END = "(?![\\p{L}\\p{N}_])";

/** Reads all patterns. */
export function readPatterns(): Pattern[] {
  const text = readFileSync(join(ROOT, "judgement", "guard", "tricks.yaml"), "utf8");
  const { overrides, patterns } = FILE.parse(parse(text));
  return [
    ...overrides.flatMap(overridePatterns),
    ...Object.entries(patterns).flatMap(([trick, forms]) =>
      forms!.map(({ form, reportable, needs }) => ({
        trick: trick as Trick,
        test: expressionOf(form),
        reportable,
        needs: needs?.map((one) => new RegExp(one, "iu")),
      }))
    ),
  ];
}

/** Returns patterns of one language for orders to ignore orders. */
function overridePatterns(
  { verbs, orders, which, verbs_last }: z.output<typeof FILE>["overrides"][number],
): Pattern[] {
  const needs = [orders, which].map((list) => new RegExp(any(list), "iu"));
  const forms = [
    `⟦${any(verbs)}⟨4⟩${any(which)}⟨4⟩${any(orders)}⟧`,
    `⟦${any(verbs)}⟨3⟩${any(orders)}⟨4⟩${any(which)}⟧`,
    ...(verbs_last ? [`⟦${any(which)}⟨4⟩${any(orders)}⟨4⟩${any(verbs)}`] : []),
  ];
  return forms.map((form) => ({
    trick: "overrides instructions",
    test: expressionOf(form),
    reportable: true,
    needs,
  }));
}

/** Returns one of the words between bars, as a regular expression. */
function any(words: string): string {
  return `(?:${words.trim().replaceAll("\\w", "[\\p{L}\\p{N}]").split(/\s*\|\s*/).join("|")})`;
}

/** Replaces the signs for the ends of words, and for words in between. */
function expressionOf(form: string): RegExp {
  const source = form.replaceAll("⟦", START).replaceAll("⟧", END).replace(
    /⟨(\d+)⟩/g,
    (_, n) => `(?:[^\\p{L}\\p{N}]+[\\p{L}\\p{N}'’-]+){0,${n}}?[^\\p{L}\\p{N}]+`,
  );
  return new RegExp(source, "giu");
}

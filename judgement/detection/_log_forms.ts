/** Knowledge of the forms of log lines, of `log_forms.yaml`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../config.ts";

/** Level of a line. */
export type LineLevel = "error" | "warning" | "info";

/** An object of a structured log. */
export type Fields = Readonly<Record<string, unknown>>;

const Names = z.string().transform((text) => text.split(" ").map(normalizeName));
const Scale = z.strictObject({
  fields: Names,
  /** Fields one of which the object must have. */
  beside: Names.optional(),
  from: z.number().default(0),
  falling: z.boolean().default(false),
  /** Of a falling scale: a smaller number is information. */
  least: z.number().default(0),
  warning: z.number(),
  error: z.number(),
});
const Forms = z.strictObject({
  levels: z.record(z.enum(["error", "warning", "info"]), z.string()),
  level_fields: Names,
  transport_fields: Names,
  scales: z.array(Scale),
  message_fields: Names,
  containers: Names,
  error_fields: Names,
  text: z.array(z.string().transform((source) => new RegExp(source))),
});

/** The forms of log lines. */
export const FORMS = Forms.parse(
  parse(readFileSync(join(ROOT, "judgement", "detection", "log_forms.yaml"), "utf8")),
);

const LEVELS = new Map(
  Object.entries(FORMS.levels).flatMap(([level, names]) =>
    names.split(" ").map((name) => [name, level as LineLevel] as const)
  ),
);

/** Returns a name of a field without case and marks: `@Log.Level` becomes `loglevel`. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[@_.\s-]/g, "");
}

/** More are no name of a level. */
const MAX_LEVEL_CHARACTERS = 64;

/** Returns the level that a name stands for, such as `ERROR+2`, `W` or `Information`; undefined: it is no such name. */
export function levelNamed(name: string): LineLevel | undefined {
  const text = name.trim().slice(0, MAX_LEVEL_CHARACTERS).toLowerCase();
  return LEVELS.get(
    text.replace(/[\s_-]*(?:[+-]?\d+|\(\d+\))?$/, "")
      .replace(/^.*severity_?(?:number_)?/, "").replace(/[^a-z]/g, ""),
  );
}

/** Judges variables of the environment by `environment.yaml`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../../config.ts";
import type { Objection } from "../types.ts";
import { globPattern } from "./_programs.ts";
import { ask, deny } from "./_rule.ts";
import { type Assignment, UNKNOWN } from "./_types.ts";

const NAMES = z.record(z.string(), z.string());
const FILE = z.strictObject({ harmless: NAMES, values: NAMES, deny: NAMES });

let known: ReturnType<typeof readEnvironment> | undefined;

/** Returns objections to variables that a line sets. */
export function judgeEnvironment(assignments: readonly Assignment[]): Objection[] {
  return assignments.flatMap(({ name, value, isExported }) => {
    const { harmless, values, denied } = known ??= readEnvironment();
    if (denied(name) !== undefined) {
      return value === "" || value === "0" && /^MALLOC_/.test(name)
        ? []
        : [deny("environment", `It sets \`${name}\`: ${denied(name)}`)];
    }
    const pattern = values(name);
    if (pattern !== undefined && new RegExp(`^${pattern}$`).test(value)) return [];
    if (pattern === undefined && (!isExported || harmless(name) !== undefined)) return [];
    if (/^HIST(FILE|SIZE|FILESIZE)$/.test(name) && /^(0|\/dev\/null|)$/.test(value)) {
      return [deny("traces", "It stops the history of the shell")];
    }
    return [ask("environment", `It sets \`${name.replaceAll(UNKNOWN, "…")}\` for what it runs`)];
  });
}

function readEnvironment() {
  const path = join(ROOT, "judgement", "guard", "environment.yaml");
  const { harmless, values, deny } = FILE.parse(parse(readFileSync(path, "utf8")));
  return { harmless: lookUp(harmless), values: lookUp(values), denied: lookUp(deny) };
}

/** Makes a function that returns what is said of a name. */
function lookUp(said: Readonly<Record<string, string>>): (name: string) => string | undefined {
  const all = Object.entries(said).flatMap(([names, text]) =>
    names.split(", ").map((name) => [globPattern(name), text] as const)
  );
  return (name) => all.find(([pattern]) => pattern.test(name))?.[1];
}

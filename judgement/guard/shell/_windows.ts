/** Lines of PowerShell and cmd, which have their own programs, quotes and paths. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../../config.ts";
import type { Objection } from "../types.ts";
import { findProgram } from "./_programs.ts";
import { ask, deny } from "./_rule.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("windows", [
  "windows",
  "program_first",
  "method",
  "whole_path",
  "scratch",
]);
const WINDOWS = expressions.windows;

const CMDLET_FIRST = /^\s*[(&]?\s*(\$[\w.:]+\s*=\s*)?\(?[A-Z][a-z]+-[A-Z]\w+/;
const PROGRAM_FIRST = expressions.program_first;
const WINDOWS_PATH = /(^|[\s"'=])[A-Za-z]:\\|%[A-Za-z_]{2,}%|\$env:\w+/;
const KEYWORD =
  /^(if|else|elseif|foreach|for|while|try|catch|finally|switch|in|return|not|param)$/i;
const METHOD = expressions.method;
const TYPE =
  /^\[(datetime|math|int|int64|string|timespan|double|bool|version|environment|array)\]$/i;

/** Tells by its beginning whether a line is one of PowerShell or cmd. */
export function isWindowsLine(line: string): boolean {
  return CMDLET_FIRST.test(line) || PROGRAM_FIRST.test(line) || WINDOWS_PATH.test(line);
}

/** Objects to the first program, method or type of a line that is not known. */
export function unknownWindows(line: string): Objection[] {
  const plain = line.slice(0, 4_000).replace(/'[^']*'/g, "''");
  if (/"[^"]*\$\(/.test(plain)) return [ask("unseen", "It runs something within a text")];
  const text = plain.replace(/"[^"]*"/g, '""');
  const acts = [...text.matchAll(/\{\s*([A-Za-z][\w-]*)/g)].map(([, head]) => head!)
    .find((head) =>
      !KEYWORD.test(head) && findProgram(head.toLowerCase())?.args !== "text" && !/^\w+$/.test(head)
    );
  if (acts !== undefined) {
    return [ask("outage", `\`${acts.slice(0, 60)}\` acts on whatever a pipe brings`)];
  }
  const heads = text.split(/[|;&\n{}()]+/).map((part) => part.trim().split(/\s+/)[0] ?? "")
    .filter((head) => /^[A-Za-z]/.test(head) && !/^\w+=/.test(head) && !KEYWORD.test(head));
  const unknown = heads.find((head) =>
    !findProgram(head.toLowerCase().replace(/^.*\\/, "").replace(/\.exe$/, ""))
  );
  const cmdlet = text.match(/(?<![\w/.-])[A-Z][a-z]+-[A-Z]\w+/g)?.find((one) =>
    !findProgram(one.toLowerCase())
  );
  const method = [...text.matchAll(/\.(\w+)\(/g)].map(([, name]) => name!)
    .find((name) => !METHOD.test(name));
  const type = [...text.matchAll(/\[[\w.]+\](?=::)/g)].map(([name]) => name)
    .find((name) => !TYPE.test(name));
  const found = unknown ?? cmdlet ?? method ?? type;
  return found === undefined
    ? []
    : [ask("unknown", `What \`${found.slice(0, 60)}\` does is not known`)];
}

const RULE = z.strictObject({
  test: z.string(),
  unless: z.string().optional(),
  weight: z.enum(["ask", "deny"]).default("deny"),
  kind: z.string(),
  reason: z.string(),
});
const RULES = z.array(RULE).parse(
  parse(readFileSync(join(ROOT, "judgement", "guard", "windows.yaml"), "utf8")),
)
  .map(({ test, unless, ...rest }) => ({
    ...rest,
    test: new RegExp(test, "i"),
    unless: unless === undefined ? undefined : new RegExp(unless, "i"),
  }));

const WHOLE_PATH = expressions.whole_path;
const REMOVES = /\b(Remove-Item|rm|ri|del|erase|rd|rmdir|Clear-Content|Remove-ItemProperty)\b/i;

const MIRRORS = /\brobocopy(\.exe)?\b.{0,400}\/(mir|purge)\b/i;
const SCRATCH = expressions.scratch;

/** Returns objections to a line of PowerShell or cmd. */
export function checkWindows(line: string): Objection[] {
  if (!WINDOWS.test(line)) return [];
  const text = removeObfuscation(line.slice(0, 4_000));
  const found = RULES
    .filter(({ test, unless }) => test.test(text) && !unless?.test(text))
    .map(({ weight, kind, reason }) => (weight === "ask" ? ask : deny)(kind, reason));
  if (MIRRORS.test(text)) {
    found.push(ask("destroys", "It removes from its target whatever its source lacks"));
  }
  if (
    /netsh\s+interface\s+set\s+interface.{0,80}disabled?/i.test(text) && !/enabled?\b/i.test(text)
  ) found.push(ask("outage", "It takes the network away"));
  for (const part of text.split(/[;|&\n]+/)) {
    if (!REMOVES.test(part)) continue;
    const deep = /-r(ecurse)?\b|\s\/s\b|-fo(rce)?\b/i.test(part);
    const removed = part.replace(/-(Exclude|Include|Filter)\s+\S+/gi, "");
    if (WHOLE_PATH.test(removed.replace(REMOVES, " "))) {
      found.push(deny("destroys", "It removes a drive, or a whole part of the system"));
    } else if (
      /[A-Za-z]:\\Windows\\|System32|Program Files|NTDS|\\SYSVOL/i.test(removed) &&
      !SCRATCH.test(removed)
    ) found.push(deny("destroys", "It removes a part of the system"));
    else if (deep && /[A-Za-z]:\\|\\\\\w/.test(removed) && !SCRATCH.test(removed)) {
      found.push(ask("destroys", "It removes a folder with all that is in it"));
    } else if (deep && /\$\w+/.test(removed) && !SCRATCH.test(removed)) {
      found.push(ask("unseen", "What it removes depends on a variable"));
    }
  }
  if (
    /Get-ChildItem\b.{0,200}\|.{0,80}Remove-Item/is.test(text) &&
    WHOLE_PATH.test(text.replace(/.*Get-ChildItem/is, " ")) && !SCRATCH.test(text)
  ) found.push(deny("destroys", "It removes whatever lies in a whole part of the system"));
  return found;
}

/** Removes marks that only hide words: `` Re`move-Item ``, `d^el`, `"Rem"+"ove"`. */
function removeObfuscation(text: string): string {
  return text.replace(/[`^](?=\w)/g, "").replace(/["']\s*\+\s*["']/g, "").replace(
    /(?<=[\w:.$%)*-])\\{2,}(?=\w)/g,
    "\\",
  ).replace(/\\\\(\s|"|'|$)/g, "\\$1");
}

/** Program text in other languages: calls that destroy, and calls that pass text to a shell. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../../config.ts";
import type { Objection } from "../types.ts";
import { isSecret } from "./_destinations.ts";
import { areaOf } from "./_paths.ts";
import { ask, deny } from "./_rule.ts";
import { unknownFilterPart, unknownTablePart } from "./_filters.ts";
import { type KnownNames, unknownScriptPart } from "./_script_code.ts";

const WORDS = z.string().transform((text) => new Set(text.split(/\s+/).filter(Boolean)));
const FILE = z.strictObject({
  calls: z.strictObject({
    removes: WORDS,
    shells: WORDS,
    connects: WORDS,
    hands_over: WORDS,
    hides: WORDS,
    runs_text: WORDS,
    reaching: WORDS,
  }),
  languages: z.record(
    z.string(),
    z.strictObject({
      modules: WORDS,
      names: WORDS,
      commands: WORDS.optional(),
      never: WORDS.optional(),
    }),
  ),
});
const { calls, languages } = FILE.parse(
  parse(readFileSync(join(ROOT, "judgement", "guard", "code.yaml"), "utf8")),
);
const known = new Map(
  Object.entries(languages).flatMap(([all, { modules, names, commands, never }]) =>
    all.split(", ").map((language): [string, KnownNames] => [
      language,
      {
        modules,
        names,
        commands: commands ?? new Set(),
        never: never ?? new Set(),
        reaching: calls.reaching,
      },
    ])
  ),
);

/** Letters by their numbers, and names composed of pieces. */
const PIECED = /%c%c|%c["']|["'`]\s*[+.]\s*["'`]/;
/** Passes to a shell what only the running program knows. */
const UNSEEN = /\b(?:system|popen|shell_exec|passthru)\s*\(\s*(?!["'`])[\w$]+\s*\(/;
/** A call by a computed name. */
const COMPUTED_CALL = /\$\w+\s*\(|\bsend\s*\(|\bcall_user_func/;
/** A call of what another call or a bracket gives. */
const CALLS_RESULT = /[)\]]\s*\(|&\s*[{$]|->\s*\(/;
const HANDS_OVER_SHELL = /\bexec\s*\(?\s*["'{/]|\/bin\/(ba|da|z)?sh\b/;
/** Text in which functions are called without brackets, so that every word is looked at. */
const BARE_CALLS = new Set(["perl", "ruby", "php"]);
/** Languages whose texts are read name by name. */
const SCRIPTS = new Set(["javascript", "documents"]);

/** Tells whether code names one of some functions: `rmtree`, or `os.remove` with its module. */
function namesAny(code: string, words: ReadonlySet<string>): boolean {
  return (code.match(/[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*/g) ?? []).some((path) => {
    const parts = path.split(/\.|::|->/);
    return parts.some((part, n) => words.has(part) || words.has(`${part}.${parts[n + 1]}`));
  });
}

/** Objects to the first name in program text that is not known to be harmless. */
function unknownNames(code: string, language: string): Objection[] {
  const list = known.get(language);
  if (!list) return [ask("unknown", `What program text in ${language} does is not known`)];
  const found = SCRIPTS.has(language)
    ? unknownScriptPart(code, list, language === "documents")
    : unknownCall(code, language, list);
  return found === undefined
    ? []
    : [ask("unknown", `What \`${found.slice(0, 40)}\` does in program text is not known`)];
}

function unknownCall(code: string, language: string, list: KnownNames): string | undefined {
  const opened = language !== "python" ? code : code.replace(
    /\bopen\s*\(\s*(["'])([^"'\n]*)\1\s*(,\s*["']r[tb]?["']\s*)?\)/g,
    (_, _quote, path) => isSecret(path) ? "secret_file()" : "''",
  );
  // Text with code in it, such as f"{…}", is code.
  const plain = opened.replace(/\b[rR]?[fF][rR]?(["'])((?:\\.|(?!\1)[^\\])*)\1/gs, " $2 ")
    .replace(/"(?:\\.|[^"\\])*#\{[^}]*\}(?:\\.|[^"\\])*"/gs, (text) => text.replaceAll('"', " "))
    .replace(/(["'])(?:\\.|(?!\1)[^\\])*\1/gs, "''");
  const modules = [
    ...plain.matchAll(
      /^\s*(?:import|use|from)\s+([\w.:, ]+?)(?=\s+(?:as|import|qw)\b|[;\n(]|$)|[;{]\s*(?:import|use)\s+([\w.:, ]+)/gm,
    ),
  ].flatMap(([, first, later]) => (first ?? later)!.split(/[\s,]+/)).filter(Boolean);
  const required = [...code.matchAll(/\brequire\s*\(?\s*["']([^"']+)["']/g)].map(([, name]) =>
    name!
  );
  const strange = [...modules, ...required].find((name) =>
    !list.modules.has(name) && !/^(v?5[\d.]*)$/.test(name)
  );
  const words = BARE_CALLS.has(language)
    ? plain.matchAll(/(?<![$@%\w:])([A-Za-z_]\w*)/g)
    : plain.matchAll(/([A-Za-z_$][\w$]*)\s*\(/g);
  const name = [...words].map(([, one]) => one!)
    .find((one) => !list.names.has(one) && !list.modules.has(one));
  const reached = plain.match(/[A-Za-z_]\w*/g)?.find((one) =>
    list.reaching.has(one) || /^__\w+__$/.test(one)
  );
  const computed = CALLS_RESULT.exec(plain)?.[0] ??
    (language === "php" ? COMPUTED_CALL.exec(plain)?.[0] : undefined);
  return strange ?? reached ?? name ?? computed ?? (/`/.test(plain) ? "`" : undefined);
}

/** Objects to a filter of jq and its kin, or to an expression of fx. */
export function checkFilter(text: string): Objection[] {
  if (text.includes("=>")) return checkCode(text, "javascript").found;
  return notKnown(unknownFilterPart(text, known.get("jq")!.names));
}

/** Objects to text of miller that runs programs or writes files. */
export function checkTableText(text: string): Objection[] {
  return notKnown(unknownTablePart(text, known.get("miller")!.names));
}

function notKnown(found: string | undefined): Objection[] {
  return found === undefined
    ? []
    : [ask("unknown", `What \`${found.slice(0, 40)}\` does in its text is not known`)];
}

/** Objects to text of awk that runs programs or writes files. */
function awkObjections(code: string): Objection[] {
  const plain = code.replace(/>\s*"\/dev\/std(err|out)"/g, "")
    .replace(/"(?:\\.|[^"\\])*"/g, '""')
    .replace(/(^|[\s({;,!~&|])\/(?:\\.|\[[^\]]*\]|[^/\\\n])+\//g, "$1re");
  const runs =
    /\b(system|getline|close|fflush)\b|@(load|include)|(?<!\|)\|(?!\|)|\|&|\bprintf?\b[^;}\n(]*>|ENVIRON/
      .test(plain);
  return runs ? [ask("unknown", "Its text runs programs or writes files")] : [];
}

/**
 * Checks program text.
 *
 * @returns objections, and the shell lines that the program would run
 */
export function checkCode(text: string, language: string): { found: Objection[]; lines: string[] } {
  const hostile = findHostile(text);
  const unclear = language === "awk" ? awkObjections(text) : unknownNames(text, language);
  return { ...hostile, found: [...hostile.found, ...unclear] };
}

function findHostile(text: string): { found: Objection[]; lines: string[] } {
  const code = resolveAliases(text.slice(0, 8_000));
  const found: Objection[] = [];
  const strings = [...code.matchAll(/(["'`])((?:\\.|(?!\1)[^\\]){1,600})\1/gs)].map((
    [, , inside],
  ) => inside!);
  const paths = strings.filter((one) => /^[/~.*\\]|^[A-Za-z]:\\/.test(one));
  if (namesAny(code, calls.removes)) {
    const areas = paths.map((path) => areaOf(path));
    if (
      areas.length > 0 && areas.every((area) => area === "scratch" || area === "log")
    ) { /* a cache or a log */ } else {found.push(
        areas.some((area) => !["named", "unknown", "relative", "scratch", "log"].includes(area))
          ? deny(
            "destroys",
            "A program's text removes files of the system, of users or of databases",
          )
          : ask("destroys", "A program's text removes files"),
      );}
  }
  const handsOver = namesAny(code, calls.hands_over) || HANDS_OVER_SHELL.test(code);
  if (
    namesAny(code, calls.connects) &&
    (handsOver && namesAny(code, calls.shells) || /dup2/.test(code))
  ) {
    found.push(deny("sends", "A program's text hands a shell to another host"));
  } else if (namesAny(code, calls.connects) && namesAny(code, calls.runs_text)) {
    found.push(deny("remote_code", "A program's text runs what it downloads"));
  } else if (
    namesAny(code, calls.connects) &&
    paths.some((path) => areaOf(path) === "secret" || /\/etc\/passwd|environ/.test(path))
  ) found.push(deny("sends", "A program's text sends secrets to another host"));
  if (
    namesAny(code, calls.hides) &&
      (namesAny(code, calls.runs_text) || namesAny(code, calls.shells)) ||
    PIECED.test(code) &&
      (namesAny(code, calls.runs_text) || UNSEEN.test(code) || COMPUTED_CALL.test(code))
  ) {
    found.push(deny("unseen", "A program's text hides what it runs"));
  } else if (UNSEEN.test(code)) {
    found.push(ask("unseen", "What a program's text hands to a shell can't be seen"));
  }
  if (
    /open\s*\(?[^)]{0,200}["'](\/dev\/(sd|nvme|vd|hd)|\/etc\/(passwd|shadow|sudoers))[^)]{0,100}["'][wa]/
      .test(code)
  ) found.push(deny("access", "A program's text writes to a disk, or to accounts"));
  if (/os\.kill\(\s*(-1|1)\s*,|process\.kill\(\s*(-1|1)\b/.test(code)) {
    found.push(deny("outage", "A program's text ends every process, or process 1"));
  }
  if (/os\.fork\(\)|fork\s*(while|until)|while\s*(\(1\)|True|true)[^\n]{0,40}fork/.test(code)) {
    found.push(deny("outage", "A program's text multiplies itself without end"));
  }
  const lines = namesAny(code, calls.shells)
    ? [...strings.map(unescapeQuotes), ...listLiterals(code)].filter((one) =>
      /\s|^\/|reboot|halt|poweroff/.test(one)
    )
    : [];
  const backticks = [...code.matchAll(/`([^`]{2,400})`/g)].map(([, inside]) => inside!);
  return { found, lines: [...lines, ...backticks].slice(0, 12) };
}

/** Replaces aliases by the original names: Python's `import socket as s` and `from os import system as x`. */
function resolveAliases(code: string): string {
  const aliases = [...code.matchAll(/\b([A-Za-z_][\w.]*)\s+as\s+([A-Za-z_]\w*)/g)].slice(0, 16);
  const from = /\bfrom\s+([\w.]+)\s+import\b/.exec(code)?.[1];
  return aliases.reduce((text, [, name, alias]) => {
    const plain = from === undefined ? name! : `${from}.${name}`;
    return text.replace(new RegExp(`(?<![\\w.])${alias}(?=\\s*[.(])`, "g"), () => plain);
  }, code);
}

function unescapeQuotes(text: string): string {
  return text.replace(/\\(["'\\])/g, "$1");
}

/** Returns lists of literals as lines: `["rm", "-rf", "/"]` becomes `rm -rf /`. */
function listLiterals(code: string): string[] {
  return [...code.matchAll(/[[(]\s*((?:["'][^"']{1,200}["']\s*,?\s*){2,12})[\])]/g)]
    .map(([, inside]) =>
      [...inside!.matchAll(/["']([^"']+)["']/g)].map(([, word]) => word).join(" ")
    );
}

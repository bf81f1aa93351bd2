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
const REMOVES =
  /\b(rmtree|removedirs|remove_tree|rm_rf|rm_r|rmSync|rmdirSync|remove_entry_secure|unlinkSync|unlink|os\.remove|os\.rmdir|fs\.rm|fs\.unlink|FileUtils\.rm\w*|File\.delete|Path\([^)]{0,200}\)\.unlink|deltree|shutil\.move|truncate|Dir\.unmount|fs\.promises\.rm)\b/;
const SHELLS =
  /\b(os\.system|os\.popen|subprocess\.\w+|popen\w*|system|shell_exec|passthru|proc_open|execSync|execFileSync|spawnSync|exec|spawn|commands\.getoutput|pty\.spawn|IO\.popen|Kernel\.exec|qx|getline|os\.exec\w*|check_output|check_call|do shell script)\b/;
const CONNECTS =
  /\b(socket|TCPSocket|net\.connect|net\.Socket|fsockopen|IO::Socket|urlopen|requests\.(get|post)|http\.client|LWP|Net::HTTP|fetch|XMLHttpRequest|ftplib|smtplib)\b/;
const HANDS_OVER =
  /\b(dup2|pty|fdopen|STDIN|STDOUT|stdin|cmd\.exe)\b|\bexec\s*\(?\s*["'{/]|\/bin\/(ba|da|z)?sh\b/;
const HIDES =
  /\b(b64decode|base64_decode|atob|fromhex|unhexlify|codecs\.decode|gzinflate|str_rot13|decode_base64|unpack\s*\(?['"]|fromCharCode|chr\(|marshal\.loads|pickle\.loads|zlib\.decompress|pack\()/;
/** Letters by their numbers, and names composed of pieces. */
const PIECED = /%c%c|%c["']|["'`]\s*[+.]\s*["'`]/;
/** Passes to a shell what only the running program knows. */
const UNSEEN = /\b(?:system|popen|shell_exec|passthru)\s*\(\s*(?!["'`])[\w$]+\s*\(/;
/** A call by a computed name. */
const COMPUTED_CALL = /\$\w+\s*\(|\bsend\s*\(|\bcall_user_func/;
const RUNS_TEXT =
  /\b(eval|exec|__import__|assert|compile|Function|instance_eval|runInNewContext|create_function|getattr)\s*[("']/;

const FILE = z.record(z.string(), z.strictObject({ modules: z.string(), names: z.string() }));
const known = new Map(
  Object.entries(
    FILE.parse(parse(readFileSync(join(ROOT, "judgement", "guard", "code.yaml"), "utf8"))),
  )
    .flatMap(([languages, { modules, names }]) =>
      languages.split(", ").map((language) =>
        [language, {
          modules: new Set(modules.split(" ")),
          names: new Set(names.split(" ")),
        }] as const
      )
    ),
);
/** Names that reach everything else, wherever they stand. */
const REACHES_ALL =
  /__\w+__|\b(eval|exec|environ|getattr|setattr|globals|locals|vars|builtins|subclasses|popen|subprocess|child_process|constructor|prototype|binding|Function|ENV|instance_eval|send|method|const_get|system)\b/;
/** Text in which functions are called without brackets, so that every word is looked at. */
const BARE_CALLS = new Set(["perl", "ruby", "php"]);

/** Objects to the first name in program text that is not known to be harmless. */
function unknownNames(code: string, language: string): Objection[] {
  const list = known.get(language);
  if (!list) return [ask("unknown", `What program text in ${language} does is not known`)];
  const opened = code.replace(
    /\bopen\s*\(\s*(["'])([^"'\n]*)\1\s*(,\s*["']r[tb]?["']\s*)?\)/g,
    (_, _quote, path) => isSecret(path) ? "secret_file()" : "''",
  );
  const plain = opened.replace(/(["'])(?:\\.|(?!\1)[^\\])*\1/gs, "''");
  const modules = [
    ...plain.matchAll(
      /^\s*(?:import|use|from)\s+([\w.:, ]+?)(?=\s+(?:as|import|qw)\b|[;\n(]|$)|[;{]\s*(?:import|use)\s+([\w.:, ]+)/gm,
    ),
  ]
    .flatMap(([, first, later]) => (first ?? later)!.split(/[\s,]+/)).filter(Boolean);
  const required = [...code.matchAll(/\brequire\s*\(?\s*["']([^"']+)["']/g)].map(([, name]) =>
    name!
  );
  const strange = [...modules, ...required].find((name) =>
    !list.modules.has(name.replace(/^node:/, "")) && !/^(v?5[\d.]*)$/.test(name)
  );
  const words = BARE_CALLS.has(language)
    ? plain.matchAll(/(?<![$@%\w:])([A-Za-z_]\w*)/g)
    : plain.matchAll(/([A-Za-z_$][\w$]*)\s*\(/g);
  const name = [...words].map(([, one]) => one!)
    .find((one) => !list.names.has(one) && !list.modules.has(one));
  const reached = REACHES_ALL.exec(plain)?.[0];
  const found = strange ?? reached ?? name ??
    (/`/.test(plain) && language !== "javascript" ? "`" : undefined);
  return found === undefined
    ? []
    : [ask("unknown", `What \`${found.slice(0, 40)}\` does in program text is not known`)];
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
  if (REMOVES.test(code)) {
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
  if (CONNECTS.test(code) && (HANDS_OVER.test(code) && SHELLS.test(code) || /dup2/.test(code))) {
    found.push(deny("sends", "A program's text hands a shell to another host"));
  } else if (CONNECTS.test(code) && RUNS_TEXT.test(code)) {
    found.push(deny("remote_code", "A program's text runs what it downloads"));
  } else if (
    CONNECTS.test(code) &&
    paths.some((path) => areaOf(path) === "secret" || /\/etc\/passwd|environ/.test(path))
  ) found.push(deny("sends", "A program's text sends secrets to another host"));
  if (
    HIDES.test(code) && (RUNS_TEXT.test(code) || SHELLS.test(code)) ||
    PIECED.test(code) && (RUNS_TEXT.test(code) || UNSEEN.test(code) || COMPUTED_CALL.test(code))
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
  const lines = SHELLS.test(code)
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

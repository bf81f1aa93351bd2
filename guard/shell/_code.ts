/** Program text in other languages: calls that destroy, and calls that pass text to a shell. */
import type { Objection } from "../types.ts";
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

/**
 * Checks program text.
 *
 * @returns objections, and the shell lines that the program would run
 */
export function checkCode(text: string): { found: Objection[]; lines: string[] } {
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
        areas.some((area) => !["named", "unknown", "scratch", "log"].includes(area))
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

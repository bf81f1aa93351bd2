/** Lines of PowerShell and cmd, which have their own programs, quotes and paths. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../../config.ts";
import type { Objection } from "../types.ts";
import { findProgram } from "./_programs.ts";
import { ask, deny } from "./_rule.ts";
const WINDOWS =
  /\b[A-Z][a-z]+-[A-Z]\w{2,}|(^|[\s"'=])[A-Za-z]:\\|%[A-Za-z_]+%|\$env:\w+|(^|[\s&|;])[\w.-]+\.exe(\s|$)|(^|[\s&|;])(powershell|pwsh|cmd(\.exe)?|wmic|reg(\.exe)?|sc(\.exe)?|net1?(\.exe)?|netsh|vssadmin|wbadmin|bcdedit|wevtutil|diskpart|taskkill|schtasks|icacls|takeown|cipher|fsutil|certutil|bitsadmin|mshta|rundll32|regsvr32|cscript|wscript|del|erase|rd|rmdir|format|attrib|msiexec|iisreset|ipconfig|dism|sfc|w32tm|gpupdate|klist|rd|manage-bde|diskshadow|ntdsutil|dsrm|Remove-\w+|Stop-\w+)(\.exe)?(\s|$)/i;

const CMDLET_FIRST = /^\s*[(&]?\s*(\$[\w.:]+\s*=\s*)?\(?[A-Z][a-z]+-[A-Z]\w+/;
const PROGRAM_FIRST =
  /^\s*(\[[A-Z]\w+|(sc|net1?|netsh|reg|ipconfig|tasklist|taskkill|wmic|wevtutil|vssadmin|schtasks|icacls|certutil|bcdedit|w32tm|gpupdate|iisreset|appcmd|forfiles|dism|sfc|del|erase|rd|copy|xcopy|move|ren|robocopy|msiexec|fsutil|cipher|format|diskpart|wbadmin|attrib|klist|repadmin|dcdiag|nltest|query|powercfg|manage-bde)(\.exe)?\s)/i;
const WINDOWS_PATH = /(^|[\s"'=])[A-Za-z]:\\|%[A-Za-z_]{2,}%|\$env:\w+/;
const KEYWORD =
  /^(if|else|elseif|foreach|for|while|try|catch|finally|switch|in|return|not|param)$/i;
const METHOD =
  /^(Add(Days|Hours|Minutes|Seconds)|ToString|Split|Replace|Contains|StartsWith|EndsWith|ToLower|ToUpper|Trim|Substring|Subtract|ToUniversalTime|Round|Count|Where|ForEach|GetType|Properties|Refresh|WaitForStatus)$/;
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

const WHOLE_PATH =
  /(^|[\s"'=,])((?:[A-Za-z]:|\$env:system(?:drive|root)|\$env:windir|%system(?:drive|root)%|%windir%|\\\\[\w.-]+\\[\w$]+)(?:\\(?:Windows(?:\\System32|\\SysWOW64|\\WinSxS)?|Users(?:\\[^\s\\"'*]+)?|Program ?Files(?: \(x86\))?|ProgramData|inetpub(?:\\wwwroot)?|System Volume Information|Boot|Recovery|Data|SQLData|Backups?|Shares?))?)(?:\\?\*(?:\.\*)?)?\\?(?=["'\s,;|)]|$)|HKLM:?\\?(?:SYSTEM|SOFTWARE|SAM)?["'\s]|(^|\s)[\\/]\*?(?=\s|$)/i;
const REMOVES = /\b(Remove-Item|rm|ri|del|erase|rd|rmdir|Clear-Content|Remove-ItemProperty)\b/i;

const MIRRORS = /\brobocopy(\.exe)?\b.{0,400}\/(mir|purge)\b/i;
const SCRATCH =
  /\\(te?mp|cache|caches|logs?|Prefetch|SoftwareDistribution\\Download|INetCache|Temporary[^\\]*|obj|bin|dist|node_modules|CrashDumps|Minidump|WER|Windows\.old|\$Recycle\.Bin|LogFiles|Recent|Thumbnails|spool\\PRINTERS)(\\|["'\s*]|$)|%te?mp%|\$env:te?mp|\.(tmp|log|etl|dmp|bak|old|gz|zip)\b/i;

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

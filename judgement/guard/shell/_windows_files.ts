/** Programs of Windows that remove, move or overwrite files: by where the files lie. */
import type { Objection } from "../types.ts";
import { ask } from "./_rule.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("windows_files", [
  "scratch",
]);

/** Effect of a program on its operands. */
interface Effect {
  /** Operands that it removes or moves away: all, or the first. */
  readonly removes?: "all" | "first";
  /** Operand that it writes over. */
  readonly writes?: "first" | "last";
}

const EFFECTS: Readonly<Record<string, Effect>> = {
  "remove-item, ri, del, erase, rd, rmdir, rm, clear-content, clc": { removes: "all" },
  "set-content, out-file, export-csv, export-clixml, tee-object, new-item, ni": { writes: "first" },
  "copy-item, copy, cpi, xcopy, expand-archive, compress-archive": { writes: "last" },
  "move-item, move, mi": { removes: "first", writes: "last" },
  "rename-item, ren, rni": { removes: "first" },
};
const BY_PROGRAM = new Map(
  Object.entries(EFFECTS).flatMap(([names, effect]) =>
    names.split(", ").map((name) => [name, effect] as const)
  ),
);
const STATEMENT_END = /(?:&&|\|\||[;&\n{}()]|\bdo\b)+/i;
/** Parameters that name files; the values of others are no operands. */
const PATHS = /^-(path|literalpath|filepath|destination\w*)$/i;
const FLAGS =
  /^-(force|recurse|confirm|verbose|whatif|passthru|append|noclobber|notypeinformation|nonewline|asjob|container|update)\b/i;
/** Programs that list the files of a pipe. */
const LISTERS = /^(get-childitem|gci|dir|ls|get-item|gi)$/i;
/** A path that begins with a drive, a share or the folder for temporary files. */
const PLACED = /^([a-z]:[\\/]|\\\\[\w.-]+\\|%te?mp%|\$env:te?mp\b|\$\{?env:te?mp\}?)/i;
/** Caches, temporary files, logs and copies beside. */
const SCRATCH = expressions.scratch;
const BACKUP = /backup|archive|\.(bak|old|orig)\b/i;

/** Objects to removing or overwriting files of Windows that are data, or of which nobody can say where they lie. */
export function checkWindowsFiles(line: string): Objection[] {
  const groups: string[] = [];
  const whole = line.replace(/\(([^()]*)\)/g, (_, inside: string) => {
    groups.push(inside);
    return "$group";
  });
  return [whole, ...groups].flatMap((text) => text.split(STATEMENT_END)).flatMap((statement) => {
    const parts = statement.split("|").map(readWords);
    return parts.flatMap((words, n) => checkPart(words, parts.slice(0, n)));
  });
}

function checkPart(words: readonly string[], before: readonly (readonly string[])[]): Objection[] {
  const program = programOf(words);
  if (program === "forfiles") return checkForFiles(words);
  const effect = BY_PROGRAM.get(program);
  if (!effect) return [];
  if (/^(new-item|ni)$/.test(program) && !words.some((word) => /^-force$/i.test(word))) return [];
  if (/^(out-file|tee-object)$/.test(program) && words.some((word) => /^-append$/i.test(word))) {
    return [];
  }
  const operands = operandsOf(words);
  const removed = effect.removes === "all" ? operands : effect.removes ? operands.slice(0, 1) : [];
  const listed = effect.removes && operands.length === (effect.writes ? 1 : 0)
    ? before.filter((part) => LISTERS.test(programOf(part))).flatMap(operandsOf)
    : undefined;
  const isLost = listed !== undefined && listed.length === 0 && effect.removes === "all";
  const written = effect.writes === "first"
    ? operands.slice(0, 1)
    : effect.writes && operands.length > (effect.removes && listed === undefined ? 1 : 0)
    ? operands.slice(-1)
    : [];
  return [
    ...(isLost ? [ask("unseen", "What it removes comes from a pipe, and can't be known")] : []),
    ...[...removed, ...listed ?? []].flatMap((path) => objectTo(path, "removes or moves")),
    ...written.filter((path) => !BACKUP.test(path) || !PLACED.test(path))
      .flatMap((path) => objectTo(path, "writes over")),
  ];
}

function objectTo(path: string, does: string): Objection[] {
  const named = `\`${path.slice(0, 120)}\``;
  if (/^(nul|con|\$null)$/i.test(path)) return [];
  if (!PLACED.test(path) || /\.\.([\\/]|$)|%\d|[$%@]\w/.test(path.replace(PLACED, ""))) {
    return [ask("unseen", `It ${does} ${named}, and where that lies is not said`)];
  }
  return SCRATCH.test(path) ? [] : [ask("destroys", `It ${does} ${named}, which may be data`)];
}

/** Judges what `forfiles` runs on each file, by the folder in which it looks. */
function checkForFiles(words: readonly string[]): Objection[] {
  const valueOf = (name: string) =>
    words[words.findIndex((word) => word.toLowerCase() === name) + 1];
  const command = words.some((word) => /^\/c$/i.test(word)) ? valueOf("/c") ?? "" : "";
  if (!/\b(del|erase|rd|rmdir|move|ren|copy|type|echo)\b/i.test(command)) return [];
  return objectTo(
    words.some((word) => /^\/p$/i.test(word)) ? valueOf("/p") ?? "" : ".",
    "removes or moves",
  );
}

function programOf([head = ""]: readonly string[]): string {
  return head.toLowerCase().replace(/^.*\\/, "").replace(/\.exe$/, "");
}

/** Returns the operands: what no option is, and the values of options that name files. */
function operandsOf(words: readonly string[]): string[] {
  const found: string[] = [];
  for (let n = 1; n < words.length; n++) {
    const word = words[n]!;
    if (/^-[a-z]/i.test(word)) {
      if (FLAGS.test(word)) continue;
      if (PATHS.test(word)) found.push(...words[n + 1]?.split(",") ?? []);
      n++;
    } else if (!/^\/[a-z?](:\S*)?$/i.test(word) && !/^\d?>/.test(word)) {
      found.push(...word.split(","));
    }
  }
  return found.filter((word) => word !== "");
}

/** Splits a part of a line into its words, without quotes. */
function readWords(part: string): string[] {
  const words = part.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const whole = words.map((word) => word.replace(/^["']|["']$/g, ""));
  return /^(cmd(\.exe)?)$/i.test(whole[0] ?? "") && /^\/[ck]$/i.test(whole[1] ?? "")
    ? readWords(whole.slice(2).join(" "))
    : whole;
}

/** Programs that remove files, and objections by what they remove. */
import type { Objection } from "../types.ts";
import { hasOption, operands } from "./_arguments.ts";
import { areaOf, matchesEverything, normalizePath } from "./_paths.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";
import { type Run, UNKNOWN } from "./_types.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("removals", [
  "critical",
]);

export const CRITICAL = expressions.critical;

/** One of many releases of a program, by its date. */
const OLD_RELEASE = /\/releases\/[\w.-]*\d{6,}[\w.-]*$/;
const ROTATED =
  /\.(gz|xz|bz2|zst|zip|\d{1,3}|old|bak|tmp|core)$|[-.]\d{4,8}|\.\d+\.gz$|\.log\.\*|core\.\*|core$/;

/** Returns objections to removing a path. @param deep whether folders are removed with their content */
export function removalObjections(path: string, run: Run, deep: boolean): Objection[] {
  const area = areaOf(path, run.folder);
  const full = normalizePath(path, run.folder);
  const wide = deep || /[*?[]/.test(path);
  const named = `\`${displayPath(path)}\``;
  switch (area) {
    case "root":
      return [deny("destroys", `It removes ${named}: a whole part of the machine`)];
    case "device":
      return [deny("disk", `It removes the device ${named}`)];
    case "secret":
      return [deny("access", `It removes ${named}, which holds keys, accounts or rights`)];
    case "evidence":
      return [deny("traces", `It removes ${named}, which shows who did what`)];
    case "backup":
      return [(wide ? deny : ask)("destroys", `It removes backups: ${named}`)];
    case "data":
      if (isMarker(full)) return [];
      return [(wide ? deny : ask)("destroys", `It removes data: ${named}`)];
    case "system":
      return [
        (wide || !/^\/(run|etc)\//.test(full) || CRITICAL.test(full) ? deny : ask)(
          "destroys",
          `It removes a part of the system: ${named}`,
        ),
      ];
    case "log":
      if (deep && !ROTATED.test(full) && (matchesEverything(path) || !/\.\w+$/.test(full))) {
        return [ask("traces", `It removes a whole folder of logs: ${named}`)];
      }
      return [];
    case "unknown":
      return deep || matchesEverything(path)
        ? [unclearRemoval(path, run)]
        : [ask("unseen", `What it removes as ${named} can't be known beforehand`)];
    case "relative":
      return /(^|\/)\.git\/[\w/-]+\.lock$/.test(full)
        ? []
        : [ask("unseen", `It removes ${named} from a folder that is not named`)];
    case "named":
      return isMarker(full) || OLD_RELEASE.test(full)
        ? []
        : [ask("destroys", `It removes ${named}`)];
    default:
      return [];
  }
}

/** Tells whether a file only marks that a program runs: a lock, a number of a process, a socket. */
function isMarker(path: string): boolean {
  return /(^|[/._-])(lock|pid|sock)([-._]|$)/i.test(path.replace(/.*\//, ""));
}

/** Objects to removing a path with an unknown variable, or a bare `*`. */
function unclearRemoval(path: string, run: Run): Objection {
  const rest = path.replaceAll(UNKNOWN, "");
  if (path !== rest && areaOf(rest || "/", run.folder) !== "scratch") {
    return ask(
      "unseen",
      "It removes what a variable or another program names, which can't be known beforehand",
    );
  }
  if (path !== rest) return ask("unseen", "What it removes depends on a variable");
  return deny("destroys", `It removes \`${displayPath(path)}\` in a folder that is not named`);
}

/** Returns a path for a message, without the marks of unknown parts. */
export function displayPath(path: string): string {
  return path.replace(/[\uE000-\uE00F]/g, "…").slice(0, 120);
}

/** The rule for `rm` and similar programs. */
export const remove: ProgramRule = (run) => {
  const deep = hasOption(run.args, "rR", "--recursive", "--no-preserve-root");
  const paths = operands(run.args);
  if (run.args.includes("--no-preserve-root")) {
    return [deny("destroys", "It removes the root folder")];
  }
  const tells = run.args.some((arg) => /^--(help|version)$/.test(arg));
  if (paths.length === 0 && !tells) return [ask("unseen", "What it removes is not said")];
  return paths.flatMap((path) => removalObjections(path, run, deep || run.program === "srm"));
};

/** The rule for `find` that deletes: by where it looks, and by how many tests narrow it. */
export const find: ProgramRule = (run) => {
  const { args } = run;
  const first = args.findIndex((arg) => /^[-(!]/.test(arg) && !/^-[HLPOD]/.test(arg));
  const roots = args.slice(0, first < 0 ? undefined : first).filter((arg) => !arg.startsWith("-"));
  const runs = args.findIndex((arg) => /^-(exec|execdir|ok|okdir)$/.test(arg));
  const program = runs < 0 ? "" : (args[runs + 1] ?? "").replace(/.*\//, "");
  const all = args.slice(runs + 1).join(" ");
  const removes = args.includes("-delete") || /^(rm|unlink|shred|srm)$/.test(program) ||
    /^(sh|bash|dash|busybox|sudo|env|xargs|nice|ionice)$/.test(program) &&
      /\b(rm|shred|unlink)\b/.test(all);
  if (!removes) return [];
  const narrow = countNarrowingTests(args);
  const from = roots.length > 0 ? roots : ["."];
  return from.flatMap((root): Objection[] => {
    const area = areaOf(root, run.folder);
    const named = `\`find ${displayPath(root)}\``;
    if (area === "scratch") return [];
    if (area === "evidence" && normalizePath(root, run.folder) === "/var/log" || area === "log") {
      return narrow > 0 ? [] : [deny("traces", `${named} removes every log below it`)];
    }
    if (area === "relative" || area === "unknown" && narrow > 0) {
      return [ask("unseen", `${named} looks in a folder that is not known`)];
    }
    if (area === "named" && narrow > 0 && namesScratchFiles(args)) return [];
    if (area === "named" && narrow > 0) {
      return [ask("destroys", `${named} removes what matches below it`)];
    }
    if (
      /^(\/home|\/srv|\/data|\/opt|\/var|\/var\/www|~|\/home\/\w+)(\/|$)/.test(
        normalizePath(root, run.folder),
      ) && narrow > 1 && namesScratchFiles(args)
    ) return [];
    if (area === "data" && narrow > 1 || area === "backup" && narrow > 0) {
      return [ask("destroys", `${named} removes data or backups that match`)];
    }
    return [
      deny("destroys", `${named} removes ${narrow > 0 ? "what matches" : "everything"} below it`),
    ];
  });
};

/** Counts the tests that narrow the result of `find`: a name other than `*`, an age. */
function countNarrowingTests(args: readonly string[]): number {
  return args.filter((arg, n) => {
    const value = args[n + 1] ?? "";
    if (/^-(i?name|i?path|i?regex|wholename)$/.test(arg)) return !/^[*.?]*$/.test(value);
    return /^-[acm](time|min)$/.test(arg) && /^\+?\d{1,5}$/.test(value);
  }).length;
}

function namesScratchFiles(args: readonly string[]): boolean {
  return args.some((arg, n) =>
    /name$/.test(args[n - 1] ?? "") &&
    /tmp|temp|cache|log|core|sess|hprof|\.dmp|coverage|report|\.gz|\.bak|\.old|dump/.test(arg)
  );
}

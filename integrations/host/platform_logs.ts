/** The platform's own logs, as its processes and servers on this host write them. */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { redactSecrets as withoutKeys } from "../../contract/mod.ts";

/** Levels, least severe first. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
/** One of {@linkcode LOG_LEVELS}. */
export type LogLevel = typeof LOG_LEVELS[number];

/** A line of a log. */
export interface LogLine {
  /** ISO 8601; null: the line says none, as one that goes on from the one before. */
  readonly at: string | null;
  /** Process or server that wrote it: gateway, worker, postgres, … */
  readonly component: string;
  readonly level: LogLevel;
  /** At most 2,000 characters, without secrets. */
  readonly text: string;
}

/** Which lines are looked for. All that is given must hold. */
export interface LogSearch {
  /** Words that must all be in the line, in lower case. */
  readonly words: readonly string[];
  /** Least level. */
  readonly level?: LogLevel;
  readonly component?: string;
  /** First and last time; a line that says none is filed with the one before it. */
  readonly since?: Date;
  readonly until?: Date;
  /** Most lines, > 0. */
  readonly limit: number;
}

/** Most bytes of each file that are read, from its end. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_TEXT = 2_000;
/** Lines that are looked at before others are served again. */
const LINES_AT_ONCE = 2_000;

/** PostgreSQL's own words for levels; Temporal's and ours are those above. */
const LEVEL_WORDS: Readonly<Record<string, LogLevel>> = {
  ...Object.fromEntries(LOG_LEVELS.map((level) => [level, level])),
  ...{ log: "info", notice: "info", hint: "info", detail: "info", statement: "info" },
  ...{ warning: "warn", panic: "fatal", dpanic: "fatal" },
};

/** What is said to open something, up to where that stands: between quotes, or on its own. */
const NAMED = String
  .raw`\b(\w{0,40}(?:password|passwd|secret|token|api_?key)\\?["']?\s{0,3}[=:]\s{0,3})`;

/** What opens something, as lines of ours and of others spell it, and what stands in its place. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/gs,
    "[secret]",
  ],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:@/"]{0,200}):[^\s@/"]{1,500}@/gi, "$1:[secret]@"],
  [/\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}/gi, "$1 [secret]"],
  [/\b(?:sk-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?)/g, "[secret]"],
  [new RegExp(`${NAMED}(\\\\?["'])(?!\\[secret\\])(?:(?!\\2).){1,2000}`, "gi"), "$1$2[secret]"],
  [
    new RegExp(`${NAMED}(?!\\[secret\\])[^\\s"'\\\\,;&(){}[\\]][^\\s"'\\\\]{5,}`, "gi"),
    "$1[secret]",
  ],
];

/**
 * Looks for lines in the newest part of each log. Secrets are taken out before words are looked for, so that nobody
 * guesses them piece by piece.
 *
 * @param folder where the logs are; none is not an error, as processes that run alone write to their standard output
 * @returns newest first, and how many lines were looked at
 */
export async function searchLogs(
  folder: string,
  search: LogSearch,
): Promise<{ lines: LogLine[]; searched: number; components: string[] }> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".log"));
  const components = [...new Set(names.map(componentOf))].sort();
  const wanted = names.filter((name) => !search.component || componentOf(name) === search.component)
    .sort().reverse(); // the current log of a component before the one before
  const found: Filed[] = [];
  let searched = 0;
  for (const name of wanted) { // one after the other, as each may take 8 MiB
    const look = newestOf(componentOf(name), await readTail(join(folder, name)), search);
    for (let step = look.next();; step = look.next()) {
      if (step.done) {
        found.push(...step.value.filed);
        searched += step.value.searched;
        break;
      }
      await setImmediate(); // others are served meanwhile
    }
  }
  const lines = found.sort((a, b) => a.when === b.when ? 0 : a.when < b.when ? 1 : -1)
    .slice(0, search.limit).map(({ line }) => line);
  return { lines, searched, components };
}

/** A line, with the time by which it is filed: its own, or that of the line which it goes on from; else empty. */
interface Filed {
  readonly line: LogLine;
  readonly when: string;
}

/** The log before the current one belongs to the same. */
const componentOf = (name: string) => name.replace(/(\.1)?\.log$/, "");

/** Looks through a log from its end, until enough is found. Pauses now and then. */
function* newestOf(
  component: string,
  text: string,
  search: LogSearch,
): Generator<void, { filed: Filed[]; searched: number }> {
  const filed: Filed[] = [];
  let untimed: LogLine[] = []; // they go on from a line that comes before them
  let searched = 0;
  for (let end = text.length; end > 0 && filed.length < search.limit;) {
    const from = text.lastIndexOf("\n", end - 1);
    const raw = text.slice(from + 1, end);
    end = from;
    if (raw.trim() === "") continue;
    if (++searched % LINES_AT_ONCE === 0) yield;
    const named = hasWords(raw, search);
    if (!named && untimed.length === 0) continue;
    const line = parseLogLine(component, raw);
    const fits = named && (search.words.length === 0 || hasWords(withoutSecrets(raw), search));
    if (line.at === null) {
      if (fits) untimed.push(line);
      continue;
    }
    for (const one of fits ? [...untimed, line] : untimed) {
      if (isWithin(line.at, one, search)) filed.push({ line: one, when: line.at });
    }
    untimed = [];
  }
  if (filed.length < search.limit) {
    filed.push(
      ...untimed.filter((line) => isWithin("", line, search)).map((line) => ({ line, when: "" })),
    );
  }
  return { filed: filed.slice(0, search.limit), searched };
}

function hasWords(text: string, { words }: LogSearch): boolean {
  if (words.length === 0) return true;
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function isWithin(when: string, { level }: LogLine, search: LogSearch): boolean {
  if (search.level && LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(search.level)) return false;
  if (when === "") return !search.since && !search.until;
  if (search.since && new Date(when) < search.since) return false;
  return !search.until || new Date(when) <= search.until;
}

/** A line without what opens something. */
function withoutSecrets(line: string): string {
  let text = withoutKeys(line);
  for (const [secret, instead] of SECRETS) text = text.replace(secret, instead);
  return text;
}

/** The newest part of a file, whole lines of at most 8 MiB. */
export async function readTail(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, MOST_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
    const text = bytes.toString("utf8", 0, bytesRead);
    return size > MOST_BYTES ? text.slice(text.indexOf("\n") + 1) : text;
  } finally {
    await file.close();
  }
}

/** Reads a line of ours or of Temporal's, which are JSON, or of PostgreSQL's, which begins with its time. */
export function parseLogLine(component: string, line: string): LogLine {
  const text = withoutSecrets(line).slice(0, MOST_TEXT);
  const fields = fieldsOf(line);
  if (fields) {
    const { time, ts, level } = fields;
    return { at: timeOf(time ?? ts), component, level: levelOf(level), text };
  }
  const its = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?) UTC \[\d+\](?: \S+)*? ?([A-Z]+): /.exec(
    line,
  );
  return {
    at: its ? timeOf(`${its[1]!.replace(" ", "T")}Z`) : null,
    component,
    level: levelOf(its?.[2]),
    text,
  };
}

function fieldsOf(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function timeOf(value: unknown): string | null {
  const at = typeof value === "string" || typeof value === "number" ? new Date(value) : undefined;
  return at && !Number.isNaN(at.getTime()) ? at.toISOString() : null;
}

const levelOf = (word: unknown): LogLevel =>
  LEVEL_WORDS[typeof word === "string" ? word.toLowerCase() : ""] ?? "info";

/** The platform's own logs, as its processes and servers on this host write them. */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

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
  /** At most 2,000 characters. */
  readonly text: string;
}

/** Which lines are looked for. All that is given must hold. */
export interface LogSearch {
  /** Words that must all be in the line, in lower case. */
  readonly words: readonly string[];
  /** Least level. */
  readonly level?: LogLevel;
  readonly component?: string;
  /** First and last time; a line that says none does not fit. */
  readonly since?: Date;
  readonly until?: Date;
  /** Most lines, > 0. */
  readonly limit: number;
}

/** Most bytes of each file that are read, from its end. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_TEXT = 2_000;

/** PostgreSQL's own words for levels; Temporal's and ours are those above. */
const LEVEL_WORDS: Readonly<Record<string, LogLevel>> = {
  ...Object.fromEntries(LOG_LEVELS.map((level) => [level, level])),
  ...{ log: "info", notice: "info", hint: "info", detail: "info", statement: "info" },
  ...{ warning: "warn", panic: "fatal", dpanic: "fatal" },
};

/**
 * Looks for lines in the newest part of each log.
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
  const wanted = names.filter((name) =>
    !search.component || componentOf(name) === search.component
  );
  const read = await Promise.all(wanted.map((name) => linesOf(folder, name)));
  const all = read.flat();
  const lines = all.filter((line) => fits(line, search))
    .sort((a, b) => (b.at ?? "") < (a.at ?? "") ? -1 : 1).slice(0, search.limit);
  return { lines, searched: all.length, components };
}

/** The log before the current one belongs to the same. */
const componentOf = (name: string) => name.replace(/(\.1)?\.log$/, "");

function fits({ at, level, text }: LogLine, search: LogSearch): boolean {
  if (search.level && LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(search.level)) return false;
  if (search.since && (at === null || new Date(at) < search.since)) return false;
  if (search.until && (at === null || new Date(at) > search.until)) return false;
  const lower = text.toLowerCase();
  return search.words.every((word) => lower.includes(word));
}

async function linesOf(folder: string, name: string): Promise<LogLine[]> {
  const component = componentOf(name);
  const text = await tail(join(folder, name));
  return text.split("\n").filter((line) => line.trim() !== "").map((line) =>
    readLine(component, line)
  );
}

/** The newest part of a file, whole lines of at most 8 MiB. */
export async function tail(path: string): Promise<string> {
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
export function readLine(component: string, line: string): LogLine {
  const text = line.slice(0, MOST_TEXT);
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

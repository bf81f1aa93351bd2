import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { LOG_LEVELS, type LogLevel, type LogLine, parseLogLine } from "./_log_line.ts";
import { redactLine } from "./_log_secrets.ts";

/** A search for lines. All given conditions must hold. */
export interface LogSearch {
  /** Words that must all be in the line, in lower case. */
  readonly words: readonly string[];
  /** Least level. */
  readonly level?: LogLevel;
  readonly component?: string;
  /** First and last time. A line without a time has that of the line before it. */
  readonly since?: Date;
  readonly until?: Date;
  /** Maximum of lines, > 0. */
  readonly limit: number;
}

/** Result of a search. */
export interface LogSearchResult {
  /** Newest first. */
  readonly lines: LogLine[];
  /** Number of lines that were searched. */
  readonly searched: number;
  /** Names of all components that have a log. */
  readonly components: string[];
}

/** Maximum of bytes of each file that are read, from its end. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Lines that are searched before other work of the process goes on. */
const LINES_PER_TURN = 2_000;

/**
 * Searches the newest part of each log of the platform's processes and servers. Secrets are removed before words are
 * compared, so that nobody guesses them piece by piece.
 *
 * @param folder of the logs; it may be missing, as processes that run alone write to their standard output
 */
export async function searchLogs(folder: string, search: LogSearch): Promise<LogSearchResult> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".log"));
  const components = [...new Set(names.map(componentName))].sort();
  const wanted = names
    .filter((name) => !search.component || componentName(name) === search.component)
    .sort().reverse(); // the current log of a component before the one before
  const found: TimedLine[] = [];
  let searched = 0;
  for (const name of wanted) { // one after the other, as each may take 8 MiB
    const text = await readIfPresent(join(folder, name));
    const result = await searchLog(componentName(name), text, search);
    found.push(...result.found);
    searched += result.searched;
  }
  const lines = found.sort((a, b) => a.at === b.at ? 0 : a.at < b.at ? 1 : -1)
    .slice(0, search.limit).map(({ line }) => line);
  return { lines, searched, components };
}

/** A line with its time, or that of the line which it continues; else empty. */
interface TimedLine {
  readonly line: LogLine;
  readonly at: string;
}

/** Returns the component that wrote a log. The log before the current one belongs to the same. */
function componentName(file: string): string {
  return file.replace(/(\.1)?\.log$/, "");
}

/** Searches a log from its end until enough is found. Other work of the process goes on meanwhile. */
async function searchLog(
  component: string,
  text: string,
  search: LogSearch,
): Promise<{ found: TimedLine[]; searched: number }> {
  const found: TimedLine[] = [];
  let untimed: LogLine[] = []; // they continue a line that comes before them
  let searched = 0;
  for (let end = text.length; end > 0 && found.length < search.limit;) {
    const from = text.lastIndexOf("\n", end - 1);
    const raw = text.slice(from + 1, end);
    end = from;
    if (raw.trim() === "") continue;
    if (++searched % LINES_PER_TURN === 0) await endOfTurn();
    const mayMatch = hasWords(raw, search);
    if (!mayMatch && untimed.length === 0) continue;
    const line = parseLogLine(component, raw);
    const matches = mayMatch && (search.words.length === 0 || hasWords(redactLine(raw), search));
    if (line.at === null) {
      if (matches) untimed.push(line);
      continue;
    }
    for (const one of matches ? [...untimed, line] : untimed) {
      if (isWithin(line.at, one, search)) found.push({ line: one, at: line.at });
    }
    untimed = [];
  }
  if (found.length < search.limit) {
    const rest = untimed.filter((line) => isWithin("", line, search));
    found.push(...rest.map((line) => ({ line, at: "" })));
  }
  return { found: found.slice(0, search.limit), searched };
}

function hasWords(text: string, { words }: LogSearch): boolean {
  if (words.length === 0) return true;
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function isWithin(at: string, { level }: LogLine, search: LogSearch): boolean {
  if (search.level && LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(search.level)) return false;
  if (at === "") return !search.since && !search.until;
  if (search.since && new Date(at) < search.since) return false;
  return !search.until || new Date(at) <= search.until;
}

/** Reads the newest part of a log; empty where it was rotated away since it was listed. */
async function readIfPresent(path: string): Promise<string> {
  return await readTail(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** Reads the newest part of a file: whole lines, 8 MiB at most unless the caller says less. */
export async function readTail(path: string, maxBytes = MAX_BYTES): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
    const text = bytes.toString("utf8", 0, bytesRead);
    return size > maxBytes ? text.slice(text.indexOf("\n") + 1) : text;
  } finally {
    await file.close();
  }
}

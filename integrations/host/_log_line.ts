import { redactLine } from "./_log_secrets.ts";

/** Levels, least severe first. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
/** One of {@linkcode LOG_LEVELS}. */
export type LogLevel = typeof LOG_LEVELS[number];

/** A line of a log. */
export interface LogLine {
  /** ISO 8601; null: the line has no time, as it continues the one before. */
  readonly at: string | null;
  /** Process or server that wrote it: gateway, worker, postgres, … */
  readonly component: string;
  readonly level: LogLevel;
  /** At most 2,000 characters, without secrets. */
  readonly text: string;
}

const MAX_CHARACTERS = 2_000;

/** Words of PostgreSQL and of Temporal for levels, besides those of {@linkcode LOG_LEVELS}. */
const LEVEL_WORDS: Readonly<Record<string, LogLevel>> = {
  log: "info",
  notice: "info",
  hint: "info",
  detail: "info",
  statement: "info",
  warning: "warn",
  panic: "fatal",
  dpanic: "fatal",
};

const POSTGRES_LINE =
  /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?) UTC \[\d+\](?: \S+)*? ?([A-Z]+): /;

/** Parses a line of the platform or of Temporal, which are JSON, or of PostgreSQL, which begins with its time. */
export function parseLogLine(component: string, line: string): LogLine {
  const text = redactLine(line).slice(0, MAX_CHARACTERS);
  const fields = parseJson(line);
  if (fields) {
    const { time, ts, level } = fields;
    return { at: parseTime(time ?? ts), component, level: parseLevel(level), text };
  }
  const postgres = POSTGRES_LINE.exec(line);
  return {
    at: postgres ? parseTime(`${postgres[1]!.replace(" ", "T")}Z`) : null,
    component,
    level: parseLevel(postgres?.[2]),
    text,
  };
}

function parseJson(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function parseTime(value: unknown): string | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

function parseLevel(value: unknown): LogLevel {
  const word = typeof value === "string" ? value.toLowerCase() : "";
  return LOG_LEVELS.find((level) => level === word) ?? LEVEL_WORDS[word] ?? "info";
}

/** Parsers of logs, whose lines attackers write, too. They run in a process of the pool, and these call them there. */
import { z } from "zod";
import { parseApart, type Refusal } from "../../integrations/strangers/mod.ts";
import type { FindingRecord } from "../../store/incidents/mod.ts";
import type { ColumnCounts } from "./_log_header.ts";
import { levelOf } from "./_log_lines.ts";
import {
  isLikeFinding,
  type LogLimits,
  type LogReading,
  type LogState,
  readLines,
} from "./_log_state.ts";
import { learnLines, listTemplates, openMiner, textOf } from "./_log_templates.ts";
import { timeOf } from "./_log_time.ts";

/** A detector has eight seconds in all. */
const TIMEOUT_MS = 6_000;
/** Maximum of lines of errors that are counted. */
const MAX_ERRORS = 1_000;
const MAX_MESSAGE_CHARACTERS = 160;
/** Lines that are returned as they are. */
const MAX_NEWEST = 60;
const MAX_NEWEST_CHARACTERS = 400;

const Counted = z.tuple([z.string(), z.number()]);
const Sign = z.looseObject({
  source: z.string().nullable(),
  kind: z.enum([
    "failure",
    "pam_failure",
    "invalid_user",
    "break_in",
    "accepted",
    "scan",
    "hint",
  ]),
  process: z.string(),
  times: z.number(),
});
const State = z.looseObject({
  lines: z.number(),
  kinds: z.looseObject({
    columns: z.looseObject({
      lines: z.number(),
      headed: z.number(),
      columns: z.array(z.array(z.number())),
    }),
    templates: z.array(Counted),
  }),
  minutes: z.array(z.tuple([z.number(), z.number(), z.number()])),
  attempts: z.looseObject({
    sources: z.array(z.tuple([
      z.string(),
      z.looseObject({
        failures: z.array(z.number()),
        invalid: z.array(Counted),
        ports: z.array(Counted),
        breakIns: z.array(z.number()),
        accepted: z.number(),
      }),
    ])),
    processes: z.array(z.tuple([
      z.string(),
      z.looseObject({
        pamSource: z.string(),
        pamFailures: z.number(),
        failures: z.number(),
        secondary: z.number(),
        at: z.number(),
      }),
    ])),
    lastSign: Sign.optional(),
  }),
});
const Reading = z.looseObject({
  state: State,
  attacks: z.array(z.looseObject({
    source: z.string(),
    code: z.enum([
      "brute_force",
      "invalid_users",
      "break_in_attempt",
      "login_after_failures",
      "port_scan",
    ]),
    failures: z.number(),
    ports: z.number(),
    users: z.array(z.string()),
    at: z.number(),
  })),
  peaks: z.array(z.looseObject({ minute: z.number(), errors: z.number(), usual: z.number() })),
  newTemplates: z.array(z.looseObject({
    template: z.string(),
    level: z.enum(["error", "warning", "info"]),
    sample: z.string(),
  })),
  errorSamples: z.array(z.string()),
});
const Errors = z.strictObject({
  count: z.number().int().min(0).max(MAX_ERRORS),
  mostFrequent: z.string().max(MAX_MESSAGE_CHARACTERS).nullable(),
  newest: z.array(z.string().max(MAX_NEWEST_CHARACTERS)).max(MAX_NEWEST),
});

/** Errors among lines, and the newest lines of all levels. */
type NewErrors = Readonly<z.output<typeof Errors>>;
/** Errors among lines. */
type ErrorSummary = Omit<NewErrors, "newest">;

/** A result, or why the lines are refused. */
type Parsed<T> = Promise<{ readonly value: T } | { readonly refusal: Refusal }>;

/** Parameters of {@linkcode readLines}, as JSON carries them. */
interface ReadingOptions {
  readonly before?: LogState;
  readonly limits: LogLimits;
  readonly now: string;
  readonly old: boolean;
}

/** Reads lines, as {@linkcode readLines} does. */
export function readLinesApart(
  before: LogState | undefined,
  lines: readonly string[],
  { limits, now, old }: Parameters<typeof readLines>[2],
): Parsed<LogReading> {
  const parameters = { before, limits, now: now.toISOString(), old };
  return apart("log_lines", lines, parameters, Reading as z.ZodType<LogReading>);
}

/** The parser of {@linkcode readLinesApart}. */
export function readLogLines(bytes: Buffer, parameters: unknown): LogReading {
  const { before, limits, now, old } = parameters as ReadingOptions;
  return readLines(before, linesOf(bytes), { limits, now: new Date(now), old });
}

/** Counts the lines of a finding's kind. @param columns of the finding's log */
export function countLikeFinding(
  lines: readonly string[],
  { code, detail }: Pick<FindingRecord, "code" | "detail">,
  columns: ColumnCounts,
): Parsed<number> {
  return apart("log_watch", lines, { code, detail, columns }, z.number().int().min(0));
}

/** The parser of {@linkcode countLikeFinding}. */
export function watchLogLines(bytes: Buffer, parameters: unknown): number {
  const { columns, ...finding } = parameters as FindingRecord & { columns: ColumnCounts };
  return linesOf(bytes).filter((line) => isLikeFinding(line, finding, columns)).length;
}

/** Counts the errors since a moment, and returns the newest lines since then. */
export function summarizeErrorsApart(
  text: string,
  since: Date,
): Parsed<NewErrors> {
  return apart("log_errors", text.split("\n"), { since: since.getTime() }, Errors);
}

/**
 * The parser of {@linkcode summarizeErrorsApart}. A line without a time has that of the line before it; the newest lines of a
 * log without times are its last ones.
 */
export function readLogErrors(bytes: Buffer, parameters: unknown): NewErrors {
  const { since } = parameters as { since: number };
  const now = new Date();
  let isNew: boolean | undefined;
  const lines = linesOf(bytes).filter((line) => line.trim() !== "");
  const dated = lines.filter((line) => {
    const time = timeOf(line, now);
    if (time !== undefined) isNew = time >= since;
    return isNew;
  });
  const errors = dated.filter((line) => levelOf(line) === "error");
  return {
    ...summarizeErrors(errors.slice(-MAX_ERRORS)),
    newest: (isNew === undefined ? lines : dated).slice(-MAX_NEWEST).map((line) =>
      line.slice(0, MAX_NEWEST_CHARACTERS)
    ),
  };
}

/** Summarizes lines of errors, at most {@linkcode MAX_ERRORS}. */
export function summarizeErrors(errors: readonly string[]): ErrorSummary {
  const miner = openMiner();
  learnLines(miner, errors);
  const [most] = listTemplates(miner).sort((a, b) => b.count - a.count);
  const mostFrequent = most ? textOf(most).slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed() : null;
  return { count: errors.length, mostFrequent };
}

function apart<T>(
  kind: "log_lines" | "log_errors" | "log_watch",
  lines: readonly string[],
  parameters: unknown,
  answer: z.ZodType<T>,
): Parsed<T> {
  const bytes = Buffer.from(JSON.stringify(lines));
  return parseApart(kind, { bytes, parameters, timeoutMs: TIMEOUT_MS }, answer);
}

function linesOf(bytes: Buffer): string[] {
  return JSON.parse(bytes.toString()) as string[];
}

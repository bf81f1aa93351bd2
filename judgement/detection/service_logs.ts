/** Errors in the logs of one service: of the platform's own parts, and of services whose log the detectors know. */
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Config } from "../../config.ts";
import { readTail, searchLogs } from "../../integrations/host/mod.ts";
import { summarizeErrors, summarizeErrorsApart } from "./_log_parsers.ts";
import { detectorsFilePath } from "./context.ts";
import { BadDetectorsFile, readDetectorsFile } from "./settings.ts";

/** Errors in a log of a service. */
export interface LoggedErrors {
  /** Name of the file without its folder, or of the platform's part. */
  readonly log: string;
  /** Number of error lines, 0 to 1,000. */
  readonly count: number;
  /** The most frequent message, with `<*>` for values, at most 160 characters; null: none has words. */
  readonly mostFrequent: string | null;
}

/** Maximum of lines that are counted. */
const MAX_LINES = 1_000;
/** Parts of the platform whose log has another name. */
const LOG_NAMES: Readonly<Record<string, string>> = {
  "tool-server": "mcp",
  "public-ledger": "ledger",
  postgresql: "postgres",
};

/** Logs to read. */
interface LogsOfService {
  readonly config: Config;
  readonly service: string;
  readonly since: Date;
}

/** A log of a service that the detectors know: its errors, and the newest lines of all levels. */
export interface NewLines extends LoggedErrors {
  readonly newest: readonly string[];
}

/** Counts the errors in the newest part of each log of a service. @returns empty where no log of it is known */
export async function findLoggedErrors(where: LogsOfService): Promise<LoggedErrors[]> {
  const { config, service, since } = where;
  const component = LOG_NAMES[service] ?? service;
  const { lines, components } = await searchLogs(join(config.dataDir, "logs"), {
    words: [],
    level: "error",
    component,
    since,
    limit: MAX_LINES,
  });
  const own = components.includes(component)
    ? [{ log: component, ...summarizeErrors(lines.map(({ text }) => text)) }]
    : [];
  const others = await findNewLines(where);
  return [...own, ...others.map(({ newest: _, ...errors }) => errors)];
}

/**
 * Reads what is new in each log that the detectors' settings name for a service, and in `more`; those that can't be read, and
 * those that nobody has written since then, are left out.
 */
export async function findNewLines(
  { config, service, since, more = [] }: LogsOfService & { readonly more?: readonly string[] },
): Promise<NewLines[]> {
  const paths = new Set([...listServiceLogs(config, service), ...more]);
  const found = await Promise.all(
    [...paths].map(async (path) => {
      const { mtime } = await stat(path).catch(() => ({ mtime: new Date(0) }));
      const text = mtime < since ? undefined : await readTail(path).catch(() => undefined);
      const parsed = text === undefined ? undefined : await summarizeErrorsApart(text, since);
      return parsed && "value" in parsed ? [{ log: basename(path), ...parsed.value }] : [];
    }),
  );
  return found.flat();
}

/** Lists the logs that the detectors' settings name for a service. */
export function listServiceLogs(config: Config, service: string): string[] {
  try {
    return readDetectorsFile(detectorsFilePath(config)).logs.files
      .filter((file) => file.service === service && !file.path.includes("*"))
      .map(({ path }) => path);
  } catch (error) {
    if (error instanceof BadDetectorsFile) return []; // the detectors report it
    throw error;
  }
}

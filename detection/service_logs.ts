/** What the logs of one service say went wrong: the platform's own parts, and services whose log the detectors know. */
import { basename, join } from "node:path";
import { readTail, searchLogs } from "../integrations/host/mod.ts";
import type { Config } from "../config.ts";
import { levelOf, timeOf, wordsOf } from "./_lines.ts";
import { BadDetectorsFile, readDetectorsFile } from "./settings.ts";
import { detectorsFilePath } from "./sweep.ts";

/** Errors in a log of a service. */
export interface LoggedErrors {
  /** Name of the file without its folder, or of the platform's part. */
  readonly log: string;
  /** Lines that tell of an error, ≥ 0, at most 1,000. */
  readonly count: number;
  /** What most of them say, with `<*>` for values, at most 160 characters; null: none says anything. */
  readonly most: string | null;
}

/** Most lines that are counted. */
const MOST_LINES = 1_000;
const MOST_TEXT = 160;
/** Parts of the platform whose log has another name. */
const LOGS: Readonly<Record<string, string>> = {
  "tool-server": "mcp",
  "public-ledger": "ledger",
  postgresql: "postgres",
};

/** Looks through the newest part of each log of a service. @returns none where no log of it is known here */
export async function findLoggedErrors(
  { config, service, since }: {
    readonly config: Config;
    readonly service: string;
    readonly since: Date;
  },
): Promise<LoggedErrors[]> {
  const component = LOGS[service] ?? service;
  const ours = { words: [], level: "error", component, since, limit: MOST_LINES } as const;
  const { lines, components } = await searchLogs(join(config.dataDir, "logs"), ours);
  const own = components.includes(component)
    ? [told(component, lines.map(({ text }) => messageOf(text)))]
    : [];
  const others = await Promise.all(
    filesOf(config, service).map(async (path) => {
      const text = await readTail(path).catch(() => undefined);
      return text === undefined ? [] : [told(basename(path), errorsIn(text, since))];
    }),
  );
  return [...own, ...others.flat()];
}

/** Its files by the detectors' settings; a file of those that is wrong is told of by the detectors. */
function filesOf(config: Config, service: string): string[] {
  try {
    return readDetectorsFile(detectorsFilePath(config)).logs.files
      .filter((file) => file.service === service && !file.path.includes("*"))
      .map(({ path }) => path);
  } catch (error) {
    if (error instanceof BadDetectorsFile) return [];
    throw error;
  }
}

function errorsIn(text: string, since: Date): string[] {
  const now = new Date();
  return text.split("\n").filter((line) =>
    levelOf(line) === "error" && (timeOf(line, now) ?? 0) >= since.getTime()
  ).slice(-MOST_LINES);
}

/** Our own lines are JSON, of which the message is what counts. */
function messageOf(line: string): string {
  if (!line.startsWith("{")) return line;
  try {
    const { msg } = JSON.parse(line) as { msg?: unknown };
    return typeof msg === "string" ? msg : line;
  } catch {
    return line;
  }
}

function told(log: string, errors: readonly string[]): LoggedErrors {
  const counts = new Map<string, number>();
  for (const error of errors) {
    const words = wordsOf(error).join(" ").slice(0, MOST_TEXT);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return { log, count: errors.length, most: most?.[0] || null };
}

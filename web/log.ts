import { type DestinationStream, type Logger, pino } from "pino";

/** Structured log of one process. */
export type Log = Logger;

/**
 * A log of JSON lines: `time` (ISO 8601), `level`, `service`, and what the line is about.
 *
 * @param service the process's name in `SERVICE`
 * @param level least severe level that is written
 * @param to where to; standard output unless a test listens in
 */
export function createLog(service: string, level: string, to?: DestinationStream): Log {
  // Written at once: what was logged is there, and in its order, however the process ends.
  const stream = to ?? pino.destination({ fd: 1, sync: true });
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  }, stream);
}

/** Where a log goes that standard output is not for. */
export const STANDARD_ERROR: DestinationStream = {
  write: (line) => void process.stderr.write(line),
};

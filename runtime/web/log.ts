import { type DestinationStream, type Logger, pino } from "pino";

/** The structured log of one process. */
export type Log = Logger;

/**
 * Creates a log of JSON lines: `time` (ISO 8601), `level`, `service`, and fields of its own.
 *
 * @param service the process's name in `SERVICE`
 * @param level the least severe level that is written
 * @param to destination; default: standard output
 */
export function createLog(service: string, level: string, to?: DestinationStream): Log {
  // Synchronous, so that no line is lost however the process ends.
  const stream = to ?? pino.destination({ fd: 1, sync: true });
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    formatters: { level: (label) => ({ level: label }) },
  }, stream);
}

/** Returns an error's fields for the log. Others may hold values of rows, as `detail` of PostgreSQL's errors does. */
function describeError(error: Error): Record<string, unknown> {
  const { type, message, stack, code } = pino.stdSerializers.err(error);
  return { type, message, stack, code };
}

/** The destination where standard output is taken by a protocol. */
export const STANDARD_ERROR: DestinationStream = {
  write: (line) => void process.stderr.write(line),
};

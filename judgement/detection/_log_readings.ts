/** Readings of logs: the lines that were added to one, parsed apart. */
import { type FilePlace, readAddedLines } from "../../integrations/files/mod.ts";
import type { Refusal } from "../../integrations/strangers/mod.ts";
import { getLogPlace } from "../../store/incidents/mod.ts";
import { readLinesApart } from "./_log_parsers.ts";
import { EMPTY_STATE, type LogLimits, type LogReading, type LogState } from "./_log_state.ts";
import { type DetectionContext, untilDeadline } from "./detector.ts";

/** The lines that were added to a log since its place. */
export interface AddedReading {
  /** Place where it began; undefined: it is the first one. */
  readonly from: FilePlace | undefined;
  readonly place: FilePlace;
  /** True: lines of a file that is gone were missed. */
  readonly missed: boolean;
  readonly parsed: { readonly value: LogReading } | { readonly refusal: Refusal };
  /** State of the log behind these lines: the one before them, if they were refused. */
  readonly state: LogState;
}

/**
 * Readings that were not done when the time of their sweep was over. The next sweep takes them over: begun anew, lines that
 * take long would be late again, and be read for ever.
 */
const late = new Map<string, Promise<AddedReading>>();

/**
 * Reads what was added to a log, or takes over the reading that an earlier sweep has begun.
 *
 * @returns undefined: it is not done by the deadline
 * @throws the file can't be read
 */
export async function readLog(
  { store, host }: DetectionContext,
  path: string,
  limits: LogLimits,
  deadline: AbortSignal,
): Promise<AddedReading | undefined> {
  const known = await getLogPlace<FilePlace, LogState>(store.db, host, path);
  const id = JSON.stringify([store.tenant, host, path]);
  const begun = late.get(id);
  late.delete(id);
  const earlier = begun && await untilDeadline([begun], deadline);
  if (earlier && isSame(earlier[0]!.from, known?.place)) return earlier[0];
  const reading = begun && !earlier ? begun : readAdded(path, known, limits);
  const [done] = await untilDeadline([reading], deadline) ?? [];
  if (!done) {
    late.set(id, reading);
    reading.catch(() => {}); // whoever takes it over is told
  }
  return done;
}

async function readAdded(
  path: string,
  known: { readonly place: FilePlace; readonly state: LogState } | undefined,
  limits: LogLimits,
): Promise<AddedReading> {
  const { lines, place, first, missed } = await readAddedLines(path, known?.place);
  const parsed = await readLinesApart(known?.state, lines, { limits, now: new Date(), old: first });
  const state = "value" in parsed ? parsed.value.state : known?.state ?? EMPTY_STATE;
  return { from: known?.place, place, missed, parsed, state };
}

function isSame(one: FilePlace | undefined, other: FilePlace | undefined): boolean {
  return one?.inode === other?.inode && one?.position === other?.position;
}

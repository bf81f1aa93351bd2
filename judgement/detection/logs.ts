import { access, constants, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FilePlace, matchesGlob, readAddedLines } from "../../integrations/files/mod.ts";
import {
  type FindingRecord,
  getLogPlace,
  listOpenFindings,
  putLogPlace,
} from "../../store/incidents/mod.ts";
import { createLogFindings, LOGIN_AFTER_FAILURES } from "./_log_findings.ts";
import { countLikeFinding } from "./_log_parsers.ts";
import { readLog } from "./_log_readings.ts";
import { EMPTY_STATE, type LogLimits, type LogState } from "./_log_state.ts";
import {
  type DetailedFinding,
  type DetectionContext,
  type Detector,
  type DetectorResult,
  type FaultId,
  findingFromRecord,
  type RecheckResult,
  type RecheckTime,
} from "./detector.ts";
import type { DetectorSettings } from "./settings.ts";

type Settings = DetectorSettings["logs"];
type LogFile = Settings["files"][number];

/** Time that a log is watched after a repair. */
const WATCH_MS = 2_000;
/** Bytes from the end of a log with which watching begins. */
const WATCH_TAIL_BYTES = 64 * 1024;

/** Reads the lines that were added to logs. */
export const logs: Detector = {
  name: "logs",
  about:
    "Tails log files: more errors than usual, attacks on logins, and kinds of lines that were never there before",
  ofHost: true,
  ofEveryTenant: false,
  configuration: ({ logs: { files, ...rest } }) => ({ ...rest, files: files.length }),
  detect: detectInLogs,
  recheck: recheckLog,
};

async function detectInLogs(
  context: DetectionContext,
  deadline: AbortSignal,
): Promise<DetectorResult> {
  const { store, settings: { logs: settings }, host, config: { place: lookedAtBy } } = context;
  const now = new Date();
  const files = await listFiles(settings);
  const paths = new Set(files.map(({ path }) => path));
  const recent = (await listOpenFindings(store.db, { detector: "logs", host })).filter((record) =>
    paths.has(String(record.target.path)) && isRecent(record, settings, now)
  );
  const found = new Map<string, DetailedFinding>(
    recent.map((record) => [record.fingerprint, findingFromRecord(record)]),
  );
  const problems = new Set<string>();
  const read: { path: string; place: FilePlace; state: LogState }[] = [];
  for (const file of files) {
    const { path, service } = file;
    try {
      const reading = await readLog(context, path, limitsOf(file, settings), deadline);
      if (!reading) {
        problems.add("log_not_read_in_time");
        break; // the next sweep has this one's reading at once, and time for the others
      }
      const { place, missed, parsed, state } = reading;
      if (missed) problems.add("lines_missed_by_rotation");
      if ("refusal" in parsed) problems.add(`log_${parsed.refusal.code}`);
      else {
        const where = { store, path, service, host, now, open: found };
        const findings = await createLogFindings(parsed.value, where);
        for (const one of findings) found.set(one.fingerprint, { ...one, lookedAtBy });
      }
      read.push({ path, place, state }); // refused lines would be refused again
    } catch (error) {
      const { code = "unreadable" } = error as NodeJS.ErrnoException;
      problems.add(`log_${code.toLowerCase()}`);
    }
  }
  return {
    probed: files.length,
    found: [...found.values()],
    problems: [...problems],
    async saveState(trx) {
      for (const one of read) await putLogPlace(trx, { host, ...one });
    },
  };
}

/** Lists the files to read. One without `*` that is missing is listed unless it is optional, so that it is reported. */
async function listFiles({ files }: Settings): Promise<LogFile[]> {
  const all = await Promise.all(files.map(async (file): Promise<LogFile[]> => {
    const name = basename(file.path);
    if (!name.includes("*")) return file.optional && !await isReadable(file) ? [] : [file];
    const folder = dirname(file.path);
    const names = await readdir(folder).catch(() => []);
    return names.filter((one) => matchesGlob(name, one))
      .map((one) => ({ ...file, path: join(folder, one) }));
  }));
  return all.flat();
}

async function isReadable({ path }: LogFile): Promise<boolean> {
  return await access(path, constants.R_OK).then(() => true, () => false);
}

function limitsOf(file: LogFile, settings: Settings): LogLimits {
  return {
    errorRate: file.error_rate,
    attacks: file.attacks,
    newTemplates: file.new_templates,
    failures: settings.failures,
    invalidUsers: settings.invalid_users,
    sources: settings.sources,
    ports: settings.ports,
    windowMs: settings.window_seconds * 1_000,
    errors: settings.errors,
    timesUsual: settings.times_usual,
    learnLines: settings.learn_lines,
  };
}

/** Returns whether a finding is within the window. A log never says that a fault is over. */
function isRecent({ target }: FindingRecord, { window_seconds }: Settings, now: Date): boolean {
  return Number(target.at ?? 0) > now.getTime() - window_seconds * 1_000;
}

async function recheckLog(
  { store, settings: { logs: settings }, host }: DetectionContext,
  _: FaultId,
  known: FindingRecord | undefined,
  time: RecheckTime,
): Promise<RecheckResult> {
  if (!known || known.cleared_at !== null) return { present: false, code: "ok" };
  const { code } = known;
  if (time === "before") {
    const present = isRecent(known, settings, new Date());
    return { present, code: present ? code : "ok" };
  }
  if (code === LOGIN_AFTER_FAILURES) return { present: true, code };
  if (known.host !== host) return { present: true, code: "other_host" };
  const path = String(known.target.path);
  const { state } = await getLogPlace<FilePlace, LogState>(store.db, host, path) ?? {};
  const count = await watchLog(path, known, state).catch(() => 0);
  const max = code === "error_rate" ? settings.errors * WATCH_MS / 60_000 : 0;
  return count > max ? { present: true, code } : { present: false, code: "ok" };
}

/** Counts the lines of a finding's kind that are added while the log is watched. */
async function watchLog(
  path: string,
  known: FindingRecord,
  { kinds: { columns } } = EMPTY_STATE,
): Promise<number> {
  const before = await readAddedLines(path, undefined, WATCH_TAIL_BYTES);
  await sleep(WATCH_MS);
  const { lines } = await readAddedLines(path, before.place);
  const counted = await countLikeFinding(lines, known, columns);
  return "value" in counted ? counted.value : Infinity; // what is refused may be of this kind
}

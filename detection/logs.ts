import { access, constants, readdir } from "node:fs/promises";
import {
  type FindingRecord,
  fingerprintFault,
  getLogPlace,
  listOpenFindings,
  putLogPlace,
} from "../store/mod.ts";
import {
  type DetailedFinding,
  type DetectionContext,
  type Detector,
  type DetectorResult,
  findingFromRecord,
  type RecheckResult,
  type RecheckTime,
} from "./_detector.ts";
import type { DetectedFinding } from "./findings.ts";
import { type Severity, worse } from "../domain/mod.ts";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "./_attacks.ts";
import { isLike, type KeptState, type LogBounds, sample, takeIn, type Told } from "./_log_state.ts";
import { type Place, readAdded } from "./_tail.ts";
import type { DetectorSettings } from "./settings.ts";

type Settings = DetectorSettings["logs"];
type LogFile = Settings["files"][number];

/** After a repair, a log must be quiet of the fault for so long. */
const QUIET_MS = 2_000;
/** Who came in after many attempts isn't undone by being quiet. */
const FOR_PEOPLE = "login_after_failures";
const MOST_SOURCES_TOLD = 20;

/** Reads what was added to logs. */
export const logs: Detector = {
  name: "logs",
  about:
    "Tails log files: more errors than usual, attacks on logins, and kinds of lines that were never there before",
  ofHost: true,
  configuration: ({ logs: { files, ...rest } }) => ({ ...rest, files: files.length }),

  async detect(world): Promise<DetectorResult> {
    const { store, settings: { logs: settings }, host } = world;
    const now = new Date();
    const files = await filesOf(settings);
    const problems = new Set<string>();
    const found = new Map<string, DetailedFinding>();
    const read: { path: string; place: Place; state: KeptState }[] = [];
    const paths = new Set(files.map(({ path }) => path));
    for (const record of await listOpenFindings(store.asPlatform(), { detector: "logs", host })) {
      const isWatched = paths.has(String(record.target.path));
      if (isWatched && isRecent(record, settings, now)) {
        found.set(record.fingerprint, findingFromRecord(record));
      }
    }
    for (const file of files) {
      const { path } = file;
      try {
        const known = await getLogPlace<Place, KeptState>(store.asPlatform(), host, path);
        const added = await readAdded(path, known?.place);
        if (added.missed) problems.add("lines_missed_by_rotation");
        const bounds = boundsOf(file, settings);
        const told = takeIn(known?.state, added.lines, { bounds, now, old: added.first });
        for (const one of findingsOf(told, file, { host, now })) found.set(one.fingerprint, one);
        read.push({ path, place: added.place, state: told.state });
      } catch (error) {
        problems.add(`log_${(error as NodeJS.ErrnoException).code?.toLowerCase() ?? "unreadable"}`);
      }
    }
    return {
      probed: files.length,
      found: [...found.values()],
      problems: [...problems],
      async saveState(on) {
        for (const one of read) await putLogPlace(on, { host, ...one });
      },
    };
  },

  recheck: recheckLog,
};

/** Files that are there and may be read; those that are named without `*` are told as a problem where they may not. */
async function filesOf({ files }: Settings): Promise<LogFile[]> {
  const all = await Promise.all(files.map(async (file): Promise<LogFile[]> => {
    const name = basename(file.path);
    if (!name.includes("*")) return await isThere(file) ? [file] : [];
    const folder = dirname(file.path);
    const pattern = new RegExp(
      `^${name.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`,
    );
    const names = await readdir(folder).catch(() => []);
    return names.filter((one) => pattern.test(one))
      .map((one) => ({ ...file, path: join(folder, one) }));
  }));
  return all.flat();
}

/** Of the files that are looked at by default, most hosts have only one. */
async function isThere({ path, optional }: LogFile): Promise<boolean> {
  if (!optional) return true;
  return await access(path, constants.R_OK).then(() => true, () => false);
}

function boundsOf(file: LogFile, settings: Settings): LogBounds {
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

/** What a log tells of is there for as long as the window is, as nothing in it says that it is over. */
function isRecent({ target }: FindingRecord, { window_seconds }: Settings, now: Date): boolean {
  return Number(target.at ?? 0) > now.getTime() - window_seconds * 1_000;
}

function findingsOf(
  { attacks, jumps, newTemplates, errorSamples }: Told,
  { path, service }: LogFile,
  { host, now }: { host: string; now: Date },
): DetailedFinding[] {
  const make = (
    kind: string,
    rest: Pick<DetailedFinding, "code" | "severity" | "summary" | "detail">,
  ): DetailedFinding => ({
    ...rest,
    service: service ?? null,
    detector: "logs",
    check: "log",
    fingerprint: fingerprintFault("logs", host, path, kind),
    observed_at: now.toISOString(),
    host,
    target: { path, at: now.getTime() },
  });
  const found: DetailedFinding[] = [];
  const tried = attacks.filter(({ code }) => code !== FOR_PEOPLE);
  if (tried.length > 0) found.push(make("attack", attack(tried, path, host)));
  for (const one of attacks.filter(({ code }) => code === FOR_PEOPLE)) {
    found.push(make(`breach ${one.source}`, {
      code: one.code,
      severity: "critical",
      summary: `${one.source} logged in on ${host} after ${one.failures} failed attempts`,
      detail: {
        path,
        source: one.source,
        user: one.user?.slice(0, 40) ?? null,
        failures: one.failures,
      },
    }));
  }
  const jump = jumps.at(-1);
  if (jump) {
    found.push(make("error_rate", {
      code: "error_rate",
      severity: "high",
      summary: `${path} on ${host} tells of ${jump.errors} errors in a minute; ` +
        `${jump.usual} were many until now`,
      detail: { path, errors: jump.errors, usual: jump.usual, samples: errorSamples },
    }));
  }
  if (newTemplates.length > 0) {
    const severity = newTemplates.reduce<Severity>(
      (so, { level }) => worse(so, level === "error" ? "medium" : "low"),
      "low",
    );
    found.push(make("new_templates", {
      code: "new_templates",
      severity,
      summary: `${path} on ${host} has ${newTemplates.length} kind` +
        `${newTemplates.length > 1 ? "s" : ""} of lines that were never there before`,
      detail: {
        path,
        templates: newTemplates.map(({ template }) => sample(template)),
        samples: newTemplates.slice(0, 5).map(({ sample }) => sample),
      },
    }));
  }
  return found;
}

const WORST = ["brute_force", "invalid_users", "break_in_attempt", "port_scan"];

/** One incident for all who knock at one door: there is one answer to them, and else there would be one for each. */
function attack(attacks: readonly Attack[], path: string, host: string) {
  const [worst] = [...attacks].sort((a, b) => WORST.indexOf(a.code) - WORST.indexOf(b.code));
  const sources = new Map<string, Attack>();
  for (const one of attacks) {
    const before = sources.get(one.source);
    if (!before || WORST.indexOf(one.code) <= WORST.indexOf(before.code)) {
      sources.set(one.source, one);
    }
  }
  const most = [...sources.values()].sort((a, b) => b.failures - a.failures);
  const who = `${sources.size} source${sources.size > 1 ? "s" : ""}`;
  const isScan = worst!.code === "port_scan";
  return {
    code: worst!.code,
    severity: isScan ? "medium" as const : "high" as const,
    summary: isScan
      ? `${who} looked for open ports on ${host}; ${worst!.source} tried ${worst!.ports}`
      : `${who} ${sources.size > 1 ? "attack" : "attacks"} logins on ${host}; ` +
        `${most[0]!.source} failed ${most[0]!.failures} times`,
    detail: {
      path,
      sources: most.slice(0, MOST_SOURCES_TOLD).map(({ source, code, failures, ports, users }) => ({
        ...{ source, code, failures, ports },
        users: users.slice(0, 5).map((user) => user.slice(0, 40)),
      })),
      more_sources: Math.max(0, most.length - MOST_SOURCES_TOLD),
    },
  };
}

async function recheckLog(
  { settings: { logs: settings }, host }: DetectionContext,
  _: DetectedFinding,
  knowing: Promise<FindingRecord | undefined>,
  moment: RecheckTime,
): Promise<RecheckResult> {
  const known = await knowing;
  if (!known || known.cleared_at !== null) return { present: false, code: "ok" };
  if (moment === "before") {
    const present = isRecent(known, settings, new Date());
    return { present, code: present ? known.code : "ok" };
  }
  if (known.code === FOR_PEOPLE) return { present: true, code: known.code };
  if (known.host !== host) return { present: true, code: "other_host" };
  const like = await watchFor(String(known.target.path), known).catch(() => 0);
  const most = known.code === "error_rate" ? settings.errors * QUIET_MS / 60_000 : 0;
  return like > most ? { present: true, code: known.code } : { present: false, code: "ok" };
}

/** How many lines of a finding's kind are added while we watch. */
async function watchFor(path: string, known: FindingRecord): Promise<number> {
  const before = await readAdded(path, undefined, 64 << 10);
  await sleep(QUIET_MS);
  const { lines } = await readAdded(path, before.place);
  return lines.filter((line) => isLike(line, known)).length;
}

import { say, type Severity, worse } from "../../contract/domain/mod.ts";
import { fingerprintFault, type Store } from "../../store/mod.ts";
import type { Attack } from "./_log_attacks.ts";
import type { ErrorPeak } from "./_log_rates.ts";
import { keepSamples } from "./_log_samples.ts";
import { type LogReading, type NewTemplate, sampleOf } from "./_log_state.ts";
import type { DetailedFinding } from "./detector.ts";

/** Code of a login after failures. Being quiet does not undo it, so that people must look at it. */
export const LOGIN_AFTER_FAILURES = "login_after_failures";

/** Codes of attacks, worst first. */
const ATTACK_CODES = ["brute_force", "invalid_users", "break_in_attempt", "port_scan"];
const MAX_SOURCES = 20;
const MAX_USERS = 5;
const MAX_USER_CHARACTERS = 40;
/** Maximum of templates of a finding. The newest stay. */
const MAX_TEMPLATES = 20;

/** The part of a finding that differs between kinds. */
type FindingText = Pick<DetailedFinding, "code" | "severity" | "summary" | "detail">;

/** The log that findings are about. */
export interface LogPlace {
  readonly store: Store;
  readonly path: string;
  readonly service?: string;
  readonly host: string;
  readonly now: Date;
  /** Findings that are open, by fingerprint: what they have as evidence is kept. */
  readonly open: ReadonlyMap<string, DetailedFinding>;
}

/** Describes a finding. @param before the same finding, where it is open already */
type Describe = (before: DetailedFinding | undefined) => FindingText;

/** Creates the findings of a reading: one for all attempts, one for each login, peak and set of templates. */
export async function createLogFindings(
  reading: LogReading,
  place: LogPlace,
): Promise<DetailedFinding[]> {
  const { attacks, peaks, newTemplates, errorSamples } = reading;
  const attempts = attacks.filter(({ code }) => code !== LOGIN_AFTER_FAILURES);
  const logins = attacks.filter(({ code }) => code === LOGIN_AFTER_FAILURES);
  const kinds: [string, Describe][] = [];
  if (attempts.length > 0) kinds.push(["attack", () => describeAttempts(attempts, place)]);
  for (const login of logins) {
    kinds.push([`breach ${login.source}`, () => describeLogin(login, place)]);
  }
  const peak = peaks.at(-1);
  if (peak) {
    kinds.push(["error_rate", (before) => describePeak(peak, errorSamples, { ...place, before })]);
  }
  if (newTemplates.length > 0) {
    kinds.push([
      "new_templates",
      (before) => describeTemplates(newTemplates, { ...place, before }),
    ]);
  }
  return await Promise.all(kinds.map(([kind, describe]) => create(kind, describe, place)));
}

async function create(
  kind: string,
  describe: Describe,
  { store, path, service, host, now, open }: LogPlace,
): Promise<DetailedFinding> {
  const fingerprint = await fingerprintFault(store, "logs", host, path, kind);
  return {
    ...describe(open.get(fingerprint)),
    service: service ?? null,
    detector: "logs",
    check: "log",
    fingerprint,
    observed_at: now.toISOString(),
    host,
    target: { path, at: now.getTime() },
  };
}

/** Describes all attempts as one incident: they need one response. */
function describeAttempts(attacks: readonly Attack[], { path, host }: LogPlace): FindingText {
  const [worst] = [...attacks].sort((a, b) => attackRank(a) - attackRank(b));
  const bySource = new Map<string, Attack>();
  for (const attack of attacks) {
    const before = bySource.get(attack.source);
    if (!before || attackRank(attack) <= attackRank(before)) bySource.set(attack.source, attack);
  }
  const sources = [...bySource.values()].sort((a, b) => b.failures - a.failures);
  const many = sources.length > 1;
  const who = say`${sources.length} source${many ? say`s` : ""}`;
  const isScan = worst!.code === "port_scan";
  return {
    code: worst!.code,
    severity: isScan ? "medium" : "high",
    summary: isScan
      ? say`${who} looked for open ports on ${host}; ${worst!.source} tried ${worst!.ports}`
      : say`${who} ${many ? say`attack` : say`attacks`} logins on ${host}; ${
        sources[0]!.source
      } failed ${sources[0]!.failures} times`,
    detail: {
      path,
      sources: sources.slice(0, MAX_SOURCES).map(({ source, code, failures, ports, users }) => ({
        source,
        code,
        failures,
        ports,
        users: users.slice(0, MAX_USERS).map((user) => user.slice(0, MAX_USER_CHARACTERS)),
      })),
      more_sources: Math.max(0, sources.length - MAX_SOURCES),
    },
  };
}

function describeLogin(login: Attack, { path, host }: LogPlace): FindingText {
  const { source, failures, user } = login;
  return {
    code: login.code,
    severity: "critical",
    summary: say`${source} logged in on ${host} after ${failures} failed attempts`,
    detail: { path, source, user: user?.slice(0, MAX_USER_CHARACTERS) ?? null, failures },
  };
}

/** Where a finding is, and the same finding, where it is open already. */
interface PlaceBefore extends LogPlace {
  readonly before: DetailedFinding | undefined;
}

function describePeak(
  { errors, usual }: ErrorPeak,
  samples: readonly string[],
  { path, host, before }: PlaceBefore,
): FindingText {
  return {
    code: "error_rate",
    severity: "high",
    summary:
      say`${path} on ${host} has ${errors} errors in a minute; a bad minute had ${usual} before`,
    detail: {
      path,
      errors,
      usual,
      samples: keepSamples([...textsOf(before, "samples"), ...samples]),
    },
  };
}

function describeTemplates(
  newest: readonly NewTemplate[],
  { path, host, before }: PlaceBefore,
): FindingText {
  const severity = newest.reduce<Severity>(
    (worst, { level }) => worse(worst, level === "error" ? "medium" : "low"),
    before?.severity ?? "low",
  );
  const templates = new Set([
    ...textsOf(before, "templates"),
    ...newest.map(({ template }) => sampleOf(template)),
  ]);
  const samples = [...textsOf(before, "samples"), ...newest.map(({ sample }) => sample)];
  const kinds = templates.size === 1 ? "1 new kind" : `${templates.size} new kinds`;
  return {
    code: "new_templates",
    severity,
    summary: say`${path} on ${host} has ${kinds} of lines`,
    detail: {
      path,
      templates: [...templates].slice(-MAX_TEMPLATES),
      samples: keepSamples(samples),
    },
  };
}

/** Returns texts of a finding's evidence. */
function textsOf(finding: DetailedFinding | undefined, name: "samples" | "templates"): string[] {
  const texts = finding?.detail[name];
  return Array.isArray(texts) ? texts as string[] : [];
}

function attackRank({ code }: Attack): number {
  return ATTACK_CODES.indexOf(code);
}

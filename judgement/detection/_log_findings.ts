import { type Severity, worse } from "../../contract/domain/mod.ts";
import { fingerprintFault, type Store } from "../../store/mod.ts";
import type { Attack } from "./_log_attacks.ts";
import type { ErrorPeak } from "./_log_rates.ts";
import { type LogReading, type NewTemplate, sampleOf } from "./_log_state.ts";
import type { DetailedFinding } from "./detector.ts";

/** Code of a login after failures. Being quiet does not undo it, so that people must look at it. */
export const LOGIN_AFTER_FAILURES = "login_after_failures";

/** Codes of attacks, worst first. */
const ATTACK_CODES = ["brute_force", "invalid_users", "break_in_attempt", "port_scan"];
const MAX_SOURCES = 20;
const MAX_USERS = 5;
const MAX_USER_CHARACTERS = 40;
const MAX_SAMPLES = 5;

/** The part of a finding that differs between kinds. */
type FindingText = Pick<DetailedFinding, "code" | "severity" | "summary" | "detail">;

/** The log that findings are about. */
export interface LogPlace {
  readonly store: Store;
  readonly path: string;
  readonly service?: string;
  readonly host: string;
  readonly now: Date;
}

/** Creates the findings of a reading: one for all attempts, one for each login, peak and set of templates. */
export async function createLogFindings(
  reading: LogReading,
  place: LogPlace,
): Promise<DetailedFinding[]> {
  const { attacks, peaks, newTemplates, errorSamples } = reading;
  const attempts = attacks.filter(({ code }) => code !== LOGIN_AFTER_FAILURES);
  const logins = attacks.filter(({ code }) => code === LOGIN_AFTER_FAILURES);
  const found: DetailedFinding[] = [];
  if (attempts.length > 0) {
    found.push(await create("attack", describeAttempts(attempts, place), place));
  }
  for (const login of logins) {
    found.push(await create(`breach ${login.source}`, describeLogin(login, place), place));
  }
  const peak = peaks.at(-1);
  if (peak) found.push(await create("error_rate", describePeak(peak, errorSamples, place), place));
  if (newTemplates.length > 0) {
    found.push(await create("new_templates", describeTemplates(newTemplates, place), place));
  }
  return found;
}

async function create(
  kind: string,
  text: FindingText,
  { store, path, service, host, now }: LogPlace,
): Promise<DetailedFinding> {
  return {
    ...text,
    service: service ?? null,
    detector: "logs",
    check: "log",
    fingerprint: await fingerprintFault(store, "logs", host, path, kind),
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
  const who = `${sources.length} source${many ? "s" : ""}`;
  const isScan = worst!.code === "port_scan";
  return {
    code: worst!.code,
    severity: isScan ? "medium" : "high",
    summary: isScan
      ? `${who} looked for open ports on ${host}; ${worst!.source} tried ${worst!.ports}`
      : `${who} ${many ? "attack" : "attacks"} logins on ${host}; ` +
        `${sources[0]!.source} failed ${sources[0]!.failures} times`,
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
    summary: `${source} logged in on ${host} after ${failures} failed attempts`,
    detail: { path, source, user: user?.slice(0, MAX_USER_CHARACTERS) ?? null, failures },
  };
}

function describePeak(
  { errors, usual }: ErrorPeak,
  samples: readonly string[],
  { path, host }: LogPlace,
): FindingText {
  return {
    code: "error_rate",
    severity: "high",
    summary:
      `${path} on ${host} has ${errors} errors in a minute; a bad minute had ${usual} before`,
    detail: { path, errors, usual, samples },
  };
}

function describeTemplates(
  templates: readonly NewTemplate[],
  { path, host }: LogPlace,
): FindingText {
  const severity = templates.reduce<Severity>(
    (worst, { level }) => worse(worst, level === "error" ? "medium" : "low"),
    "low",
  );
  const kinds = templates.length === 1 ? "1 new kind" : `${templates.length} new kinds`;
  return {
    code: "new_templates",
    severity,
    summary: `${path} on ${host} has ${kinds} of lines`,
    detail: {
      path,
      templates: templates.map(({ template }) => sampleOf(template)),
      samples: templates.slice(0, MAX_SAMPLES).map(({ sample }) => sample),
    },
  };
}

function attackRank({ code }: Attack): number {
  return ATTACK_CODES.indexOf(code);
}

/** Faults that alerts of others report: findings of the detector that looks for such faults itself. */
import { say, type Text, worse } from "../../contract/domain/mod.ts";
import type { Alert, AlertClock, AlertSource } from "../../integrations/alerts/mod.ts";
import { RemoteFailed } from "../../integrations/remote/mod.ts";
import { type FindingRecord, listOpenFindings } from "../../store/incidents/mod.ts";
import {
  type AlertFault,
  type AlertReading,
  describeLabels,
  mayHaveAlerts,
  nameOfAlert,
  readAlertFaults,
  UNMAPPED,
} from "./_alert_mapping.ts";
import { LOCAL_HOSTS } from "./_local_hosts.ts";
import { type DetailedFinding, type DetectionContext, looksAtShared } from "./detector.ts";

/** A record of an alert, by which a later sweep sees whether it was resolved. */
export interface AlertMark {
  readonly fingerprint: string;
  /** When it ends by itself, ISO 8601. */
  readonly ends_at: string;
  /** When it was sent last, ISO 8601. */
  readonly updated_at: string;
}

/** The faults that alerts report to one detector. */
export interface AlertFaults {
  /** Number of alerts that were read. */
  readonly probed: number;
  readonly found: readonly DetailedFinding[];
  /** Hosts that alerts may be about. */
  readonly hosts: readonly string[];
  /** Fingerprints of faults of which nothing is known at the moment. */
  readonly unknown: readonly string[];
  /** Code of why the alerts can't be read; undefined: they were read. */
  readonly problem?: string;
  /** Alerts of faults that were found earlier, by fingerprint, while they can't be read. */
  readonly earlier?: ReadonlyMap<string, readonly AlertMark[]>;
}

/** Readings by their sweep: its detectors share one. */
const readings = new WeakMap<DetectionContext, Promise<AlertReading>>();
/** Alerts of one fault that are kept. */
const MAX_MARKS = 50;
const MAX_LISTED = 20;
const MAX_NAMES = 3;
const NONE: AlertFaults = { probed: 0, found: [], hosts: [], unknown: [] };
const HOW_TO_MAP =
  "a rule in `alerts` of the detectors' file that names its service or host, or says ignore: true";

/** Prometheus sends all alerts again in this time, after an Alertmanager has begun anew. */
const RESTART_MS = 5 * 60_000;

/** Finds the faults that alerts report to a detector, in the name of the context's tenant. */
export async function findAlertFaults(
  context: DetectionContext,
  detector: AlertFault["detector"],
): Promise<AlertFaults> {
  if (!looksAtShared(context)) return NONE;
  const open = (await listOpenFindings(context.store.db, { detector }))
    .filter((record) => marksOf(record).length > 0);
  // Also hosts that no rule names any more: what was found about them is over.
  const hosts = [...hostsOfRules(context), ...open.flatMap(({ host }) => host ?? [])];
  if (!context.alerts || !mayHaveAlerts(context)) return { ...NONE, hosts };
  try {
    const { alerts, faults } = await readOnce(context);
    const ours = faults.filter((fault) => fault.detector === detector);
    const quiet = ours.filter(({ firing }) => firing.length === 0);
    const forgotten = await listForgotten(context.alerts, open, alerts);
    return {
      probed: alerts.length,
      found: ours.filter(({ firing }) => firing.length > 0).map((one) => toFinding(one, context)),
      hosts,
      unknown: [...quiet, ...forgotten].map(({ fingerprint }) => fingerprint),
      earlier: toEarlier(forgotten),
    };
  } catch (error) {
    if (!(error instanceof RemoteFailed)) throw error;
    return {
      ...NONE,
      unknown: open.map(({ fingerprint }) => fingerprint),
      problem: `alerts_${error.code}`,
      earlier: toEarlier(open),
    };
  }
}

/** Lists the findings whose alerts an Alertmanager may have forgotten, as it has begun anew. @throws {RemoteFailed} */
async function listForgotten(
  source: AlertSource,
  open: readonly FindingRecord[],
  alerts: readonly Alert[],
): Promise<readonly FindingRecord[]> {
  const listed = new Set(alerts.map(({ fingerprint }) => fingerprint));
  const gone = open.filter((record) =>
    marksOf(record).every(({ fingerprint }) => !listed.has(fingerprint))
  );
  if (gone.length === 0) return [];
  const clock = await source.readClock();
  return gone.filter((record) => areForgotten(marksOf(record), clock));
}

/** Returns whether an Alertmanager that has just begun may not have been sent alerts again yet. */
export function areForgotten(
  marks: readonly AlertMark[],
  { startedAt, now = new Date() }: AlertClock,
): boolean {
  if (now.getTime() - startedAt.getTime() >= RESTART_MS) return false;
  return marks.some(({ updated_at }) => Date.parse(updated_at) <= startedAt.getTime());
}

function toEarlier(records: readonly FindingRecord[]): AlertFaults["earlier"] {
  return new Map(records.map((record) => [record.fingerprint, marksOf(record)]));
}

function readOnce(sweep: DetectionContext): Promise<AlertReading> {
  const reading = readings.get(sweep) ?? readAlertFaults(sweep, "recent");
  readings.set(sweep, reading);
  return reading;
}

/**
 * Joins a detector's own findings with those of alerts: what both see is one finding, with the detector's own code. An
 * alert about a service joins whatever the detector finds about that service, such as that it goes up and down.
 */
export function joinAlertFaults(
  own: readonly DetailedFinding[],
  { found, earlier }: AlertFaults,
): DetailedFinding[] {
  const joined = new Set<DetailedFinding>();
  const all = own.map((finding): DetailedFinding => {
    const same = found.filter((one) => isSame(finding, one));
    for (const one of same) joined.add(one);
    const marks = same.flatMap(({ target }) => target.alerts as AlertMark[]);
    const kept = marks.length > 0 ? marks : earlier?.get(finding.fingerprint) ?? [];
    if (kept.length === 0) return finding;
    return {
      ...finding,
      severity: same.reduce((worst, { severity }) => worse(worst, severity), finding.severity),
      detail: { ...finding.detail, ...same[0]?.detail },
      target: { ...finding.target, alerts: kept },
      ...(same.length > 0 ? { counts: true } : {}),
    };
  });
  return [...all, ...found.filter((one) => !joined.has(one))];
}

function isSame(own: DetailedFinding, alert: DetailedFinding): boolean {
  if (own.fingerprint === alert.fingerprint) return true;
  return own.detector === "service_probes" && own.service !== null && own.service === alert.service;
}

/** Returns the records of the alerts that a finding was found by; empty: by none. */
export function marksOf({ target }: Pick<FindingRecord, "target">): readonly AlertMark[] {
  return Array.isArray(target.alerts) ? target.alerts as AlertMark[] : [];
}

/** Returns records of alerts. */
export function toMarks(alerts: readonly Alert[]): AlertMark[] {
  return alerts.slice(0, MAX_MARKS).map(({ fingerprint, endsAt, updatedAt }) => ({
    fingerprint,
    ends_at: endsAt,
    updated_at: updatedAt,
  }));
}

function toFinding(fault: AlertFault, { host: thisHost }: DetectionContext): DetailedFinding {
  const { detector, fingerprint, service, host, code, severity, firing } = fault;
  return {
    detector,
    fingerprint,
    service,
    host,
    code,
    severity,
    check: detector === "host_resources" ? "host" : "alert",
    observed_at: new Date().toISOString(),
    summary: describe(fault),
    detail: {
      alerts: firing.slice(0, MAX_LISTED).map((alert) => ({
        name: nameOfAlert(alert),
        fingerprint: alert.fingerprint,
      })),
      alert_count: firing.length,
    },
    target: {
      ...placeOf(fault, thisHost),
      ...(code === UNMAPPED ? { remedy: HOW_TO_MAP } : {}),
      alerts: toMarks(firing),
    },
  };
}

function describe({ service, host, code, path, firing }: AlertFault): Text {
  const names = [...new Set(firing.map(nameOfAlert))];
  const more = names.length > MAX_NAMES ? say` and ${names.length - MAX_NAMES} more` : "";
  const alerts = say`${names.slice(0, MAX_NAMES).join(", ")}${more}`;
  if (code === UNMAPPED) {
    const labels = describeLabels(firing[0]!);
    return say`No rule maps the alert ${alerts} to something that is known${
      labels && ` (${labels})`
    }`;
  }
  const subject = path ? say`${path} on ${host}` : service ?? host;
  return say`Alertmanager reports ${alerts} for ${subject}`;
}

/** Returns what the detector itself can look at: a resource of this host. Services are looked at by their names. */
function placeOf(
  { detector, service, host, code, path }: AlertFault,
  thisHost: string,
): Readonly<Record<string, unknown>> {
  if (detector === "service_probes") return service === null ? {} : { service };
  if (host !== thisHost) return { kind: "alert" };
  return path === undefined ? { kind: code.replace(/_.*/, "") } : { kind: "disk", path };
}

function hostsOfRules({ settings: { alerts: { rules } }, host: thisHost }: DetectionContext) {
  const hosts = rules.flatMap(({ host }) => host ?? []);
  return [...new Set(hosts.map((host) => LOCAL_HOSTS.has(host) ? thisHost : host))];
}

import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import {
  clearOtherFindings,
  type NewFinding,
  pruneFindings,
  recordDetectorRun,
  recordFindings,
} from "../../store/incidents/mod.ts";
import type { Dependencies } from "./_causes.ts";
import { readServiceGraph } from "./_dependencies.ts";
import { ALL } from "./_detectors.ts";
import { listRelated } from "./_related.ts";
import { type DetectorRun, type FinishedRun, runDetector } from "./_run.ts";
import {
  type DetailedFinding,
  type DetectionContext,
  type Detector,
  looksAtShared,
} from "./detector.ts";
import type { DetectedFinding } from "./findings.ts";
import { type FindingGroup, groupFindings } from "./group.ts";
import { logs } from "./logs.ts";
import type { DetectorSettings } from "./settings.ts";

/** Time that findings are kept after they are over. */
const RETENTION_DAYS = 90;

const NO_DEPENDENCIES: Dependencies = { hosts: new Map(), dependsOn: new Map() };

/** Result of a sweep: one run of all detectors. */
export interface Detection {
  /** Number of targets that were looked at. */
  readonly probed: number;
  /** All findings that count, with their evidence. */
  readonly findings: readonly DetailedFinding[];
  /** Incidents: the probable root of each, with the others in `related`. Worst first. */
  readonly incidents: readonly DetectedFinding[];
  /** Reports of the detectors. */
  readonly runs: readonly DetectorRun[];
}

/** Options of a sweep. */
export interface DetectOptions {
  /** True: findings and the detectors' state are saved for the next sweep. */
  readonly save: boolean;
  /** Ends the sweep early. */
  readonly signal?: AbortSignal;
  /** Called for each detector as it ends. */
  readonly onDetectorEnd?: (run: DetectorRun) => void;
}

/**
 * Runs all detectors of the store's tenant at once, and groups their findings into incidents. Opens no tickets.
 *
 * A detector that fails or takes too long is reported in `runs`; the findings of the others count.
 *
 * @throws the reason of the signal
 */
export async function detectAll(
  surroundings: DetectionContext,
  { save, signal, onDetectorEnd }: DetectOptions,
): Promise<Detection> {
  const context = { ...surroundings }; // of this sweep alone: its detectors share what they read
  const runs = await Promise.all(
    detectorsOf(context.store.tenant).map(async (detector) => {
      const run = await runDetector(detector, context, signal);
      onDetectorEnd?.(run.report);
      return run;
    }),
  );
  signal?.throwIfAborted();
  const found = runs.flatMap(({ result }) => result.found);
  const groups = groupFindings(found, await readDependencies(context, found));
  const findings = found.filter(({ counts }) => counts !== false);
  for (const { report: { enabled: _, ...report } } of runs) {
    await recordDetectorRun(context.store.db, report);
  }
  if (save) await saveSweep(context, { groups, findings, runs });
  return {
    probed: runs.reduce((sum, { result }) => sum + result.probed, 0),
    findings,
    incidents: groups.map((group) => toIncident(group, context.config.place)),
    runs: runs.map(({ report }) => report),
  };
}

/** Returns the detectors that look for faults of a tenant: the host and the platform are the operator's. */
function detectorsOf(tenant: string): readonly Detector[] {
  return tenant === PLATFORM_TENANT ? ALL : ALL.filter(({ ofEveryTenant }) => ofEveryTenant);
}

/** Reads the dependencies of services where there is something to group. */
async function readDependencies(
  { store, host }: DetectionContext,
  found: readonly DetailedFinding[],
): Promise<Dependencies> {
  return found.length < 2 ? NO_DEPENDENCIES : await readServiceGraph(store, host);
}

/** Saves in one transaction: the part of a log that was read, and what was found in it, belong together. */
async function saveSweep(
  context: DetectionContext,
  { groups, findings, runs }: {
    readonly groups: readonly FindingGroup<DetailedFinding>[];
    readonly findings: readonly DetailedFinding[];
    readonly runs: readonly FinishedRun[];
  },
): Promise<void> {
  const { store, host, config } = context;
  const rootOf = new Map(
    groups.flatMap(({ root, others }) =>
      [root, ...others].map(({ fingerprint }) => [fingerprint, root.fingerprint] as const)
    ),
  );
  const records = findings.map((one) => toRecord(one, rootOf.get(one.fingerprint)));
  await store.db.transaction(async (trx) => {
    for (const { result } of runs) await result.saveState?.(trx);
    await pruneFindings(trx, RETENTION_DAYS);
    await recordFindings(trx, records);
    for (const { detector, result, complete } of runs) {
      if (!complete) continue;
      const present = [
        ...result.found.map(({ fingerprint }) => fingerprint),
        ...result.unknown ?? [],
      ];
      await clearOtherFindings(trx, {
        detector: detector.name,
        hosts: detector.ofHost ? [host, ...result.hosts ?? []] : undefined,
        places: looksAtShared(context) ? [config.place, ""] : [config.place],
        present,
      });
    }
  });
}

function toRecord(finding: DetailedFinding, root = finding.fingerprint): NewFinding {
  return {
    fingerprint: finding.fingerprint,
    detector: finding.detector,
    service: finding.service,
    host: finding.host,
    place: finding.lookedAtBy ?? "",
    kind: finding.check,
    code: finding.code,
    severity: finding.severity,
    root,
    summary: finding.summary,
    detail: finding.deviation
      ? { ...finding.detail, deviation: finding.deviation }
      : finding.detail,
    target: finding.target,
  };
}

/** @param place that has found it */
function toIncident(
  { root, others, severity }: FindingGroup<DetailedFinding>,
  place: string,
): DetectedFinding {
  const related = listRelated(others);
  return {
    service: root.service,
    detector: root.detector,
    check: root.check,
    code: root.code,
    fingerprint: root.fingerprint,
    severity,
    observed_at: root.observed_at,
    ...(root.check === "alert" && root.service !== null ? {} : { place }),
    ...(related.length > 0 ? { related } : {}),
  };
}

/**
 * Looks at one log that is no part of any sweep, and records the findings. Lines that are there at the first look are only
 * learned from.
 */
export async function detectInLog(
  context: DetectionContext,
  file: DetectorSettings["logs"]["files"][number],
): Promise<DetectedFinding[]> {
  const settings = { ...context.settings, logs: { ...context.settings.logs, files: [file] } };
  const { found, saveState } = await logs.detect(
    { ...context, settings },
    new AbortController().signal, // nothing else waits for it, and the reading has a limit of its own
  );
  await context.store.db.transaction(async (trx) => {
    await saveState?.(trx);
    await recordFindings(trx, found.map((finding) => toRecord(finding)));
  });
  return found.map((root) =>
    toIncident({ root, others: [], severity: root.severity }, context.config.place)
  );
}

/** A detector with its configuration. */
export interface DetectorDescription extends Pick<Detector, "about"> {
  readonly detector: Detector["name"];
  /** False: the settings disable it. */
  readonly enabled: boolean;
  /** Figures of its configuration, without names. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** Describes the detectors of the store's tenant. */
export function describeDetectors(
  { settings, store }: Pick<DetectionContext, "settings" | "store">,
): DetectorDescription[] {
  return detectorsOf(store.tenant).map(({ name, about, configuration }) => ({
    detector: name,
    about,
    enabled: settings[name].enabled,
    configuration: configuration(settings),
  }));
}

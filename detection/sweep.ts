import { hostname } from "node:os";
import type { DetectorName } from "../domain/mod.ts";
import {
  clearOtherFindings,
  pruneFindings,
  getServiceGraph,
  type NewFinding,
  recordDetectorRun,
  recordFindings,
  type Store,
} from "../store/mod.ts";
import type { DetectedFinding } from "./findings.ts";
import { join } from "node:path";
import { createTimeoutSignal } from "../contract/mod.ts";
import type { Config } from "../config.ts";
import type { DetailedFinding, DetectionContext, Detector, DetectorResult } from "./_detector.ts";
import { type Dependencies, type FindingGroup, groupFindings } from "./group.ts";
import { ALL } from "./_all.ts";
import { logs } from "./logs.ts";
import { LOCAL } from "./service_probes.ts";
import { type DetectorSettings, readDetectorsFile } from "./settings.ts";

/** Longest that a detector may look, milliseconds: a sweep is over within ten seconds. */
const LOOK_MS = 8_000;
/** How long findings are kept after they are over. */
const KEPT_DAYS = 90;
/** Most that a finding names of what it is likely to be the cause of. */
const MOST_RELATED = 100;

const NOTHING_DEPENDS: Dependencies = { hosts: new Map(), dependsOn: new Map() };

/** How one detector's look went. */
export interface DetectorRun {
  /** Which one. */
  readonly detector: DetectorName;
  /** False: it was not to look. */
  readonly enabled: boolean;
  /** Milliseconds. */
  readonly duration_ms: number;
  /** How many things it looked at. */
  readonly probed: number;
  /** How many faults it found. */
  readonly findings: number;
  /** What could not be looked at, as codes; null: nothing. */
  readonly error: string | null;
}

/** What a look with every detector gave. */
export interface Detection {
  /** How many things were looked at. */
  readonly probed: number;
  /** Everything that counts, with its evidence. */
  readonly findings: readonly DetailedFinding[];
  /** The incidents that they are: the likely root of each, with the others in `related`. Worst first. */
  readonly incidents: readonly DetectedFinding[];
  /** How it went, detector by detector. */
  readonly runs: readonly DetectorRun[];
}

/** Path of the file that configures the detectors. */
export function detectorsFilePath({ settings, dataDir }: Config): string {
  return settings.SEALOOP_DETECTORS ?? join(dataDir, "sealoop.detectors.yaml");
}

/**
 * What detectors look at from here, with their settings as the file has them now.
 *
 * @throws {BadDetectorsFile}
 */
export function openDetectionContext(
  { config, store, temporal }: Pick<DetectionContext, "config" | "temporal"> & {
    readonly store: Store;
  },
): DetectionContext {
  return {
    ...{ config, store, temporal },
    settings: readDetectorsFile(detectorsFilePath(config)),
    host: hostname(),
  };
}

/**
 * Looks with every detector at once, and makes incidents of what they find. Opens no tickets.
 *
 * One that fails or takes too long is told of in `runs`; the others' findings stand.
 *
 * @throws the reason of the signal
 */
export async function detectAll(
  world: DetectionContext,
  { save, signal, onDetectorEnd }: DetectOptions,
): Promise<Detection> {
  const looks = await Promise.all(ALL.map(async (detector) => {
    const look = await run(detector, world, signal);
    onDetectorEnd?.(look.result);
    return look;
  }));
  signal?.throwIfAborted();
  const found = looks.flatMap(({ look }) => look.found);
  const graph = found.length > 1 ? await dependencies(world) : NOTHING_DEPENDS;
  const groups = groupFindings(found, graph);
  const findings = found.filter(({ counts }) => counts !== false);
  for (const { detector, result } of looks) {
    const { enabled: _, ...rest } = result;
    await recordDetectorRun(world.store.asPlatform(), { ...rest, detector: detector.name });
  }
  if (save) await keep(world, { groups, findings, looks });
  return {
    probed: looks.reduce((sum, { look }) => sum + look.probed, 0),
    findings,
    incidents: groups.map(toIncident),
    runs: looks.map(({ result }) => result),
  };
}

/** How to look. */
export interface DetectOptions {
  /** Whether the next look is to know of this one: what was read of logs, how often a service failed. */
  readonly save: boolean;
  /** Gives the look up. */
  readonly signal?: AbortSignal;
  /** Is told of each detector as it ends. */
  readonly onDetectorEnd?: (run: DetectorRun) => void;
}

/** One detector's look, with how it went. */
interface Run {
  readonly detector: Detector;
  readonly look: DetectorResult;
  readonly result: DetectorRun;
  /** Whether it saw everything, so that what it did not find is not there. */
  readonly complete: boolean;
}

async function run(
  detector: Detector,
  world: DetectionContext,
  signal?: AbortSignal,
): Promise<Run> {
  const { name } = detector;
  const { enabled } = world.settings[name];
  const started = performance.now();
  let look: DetectorResult = { probed: 0, found: [] };
  let error: string | null = null;
  let complete = true;
  if (enabled) {
    const deadline = AbortSignal.any([createTimeoutSignal(LOOK_MS), ...signal ? [signal] : []]);
    try {
      look = await Promise.race([detector.detect(world, deadline), aborted(deadline)]);
      if (look.problems?.length) error = look.problems.join(" ").slice(0, 500);
    } catch (problem) {
      complete = false;
      error = deadline.aborted ? "timeout" : codeOf(problem);
    }
  }
  const result: DetectorRun = {
    detector: name,
    enabled,
    duration_ms: Math.round((performance.now() - started) * 10) / 10,
    probed: look.probed,
    findings: look.found.filter(({ counts }) => counts !== false).length,
    error,
  };
  return {
    detector,
    look,
    result,
    complete: complete && (look.complete ?? !look.problems?.length),
  };
}

/** A little later than the detector itself is told, which can then still give what it has. */
function aborted(deadline: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const late = () => setTimeout(() => reject(deadline.reason), 500).unref();
    deadline.addEventListener("abort", late, { once: true });
  });
}

/** No words of an error, which may name hosts and paths. */
function codeOf(problem: unknown): string {
  const { code, name } = problem as { code?: unknown; name?: string };
  return String(typeof code === "string" ? code.toLowerCase() : name ?? "error").slice(0, 60);
}

/** Services and what they depend on, with hosts by the names that findings have. */
async function dependencies({ store, host }: DetectionContext): Promise<Dependencies> {
  const { hosts, dependsOn } = await getServiceGraph(store.asPlatform());
  const named = [...hosts].map(([name, at]): [string, string] => [name, LOCAL.has(at) ? host : at]);
  return { hosts: new Map(named), dependsOn };
}

/** All at once: what was read of a log and what was found in it are both kept, or neither is. */
async function keep(
  { store, host }: DetectionContext,
  { groups, findings, looks }: {
    groups: readonly FindingGroup<DetailedFinding>[];
    findings: readonly DetailedFinding[];
    looks: readonly Run[];
  },
): Promise<void> {
  const roots = new Map(
    groups.flatMap(({ root, others }) =>
      [root, ...others].map((one) => [one.fingerprint, root.fingerprint] as const)
    ),
  );
  await store.asPlatform().transaction(async (trx) => {
    for (const { look } of looks) await look.saveState?.(trx);
    await pruneFindings(trx, KEPT_DAYS);
    await recordFindings(trx, findings.map((one) => toNote(one, roots.get(one.fingerprint))));
    for (const { detector, look, complete } of looks) {
      if (!complete) continue;
      const present = look.found.map(({ fingerprint }) => fingerprint);
      await clearOtherFindings(trx, {
        detector: detector.name,
        host: detector.ofHost ? host : undefined,
        present,
      });
    }
  });
}

function toNote(one: DetailedFinding, root = one.fingerprint): NewFinding {
  const { fingerprint, detector, service, host, check, code, severity } = one;
  const { summary, detail, target } = one;
  return {
    ...{ fingerprint, detector, service, host, kind: check, code, severity, root },
    ...{ summary, detail, target },
  };
}

/**
 * Looks at one log alone, which is no part of any sweep, and notes what is found. At the first look, what is there already
 * only teaches.
 */
export async function detectInLog(
  world: DetectionContext,
  file: DetectorSettings["logs"]["files"][number],
): Promise<DetectedFinding[]> {
  const settings = { ...world.settings, logs: { ...world.settings.logs, files: [file] } };
  const { found, saveState } = await logs.detect(
    { ...world, settings },
    createTimeoutSignal(LOOK_MS),
  );
  await world.store.asPlatform().transaction(async (trx) => {
    await saveState?.(trx);
    await recordFindings(trx, found.map((one) => toNote(one)));
  });
  return found.map((root) => toIncident({ root, others: [], severity: root.severity }));
}

function toIncident({ root, others, severity }: FindingGroup<DetailedFinding>): DetectedFinding {
  const { service, detector, check, code, fingerprint, observed_at } = root;
  const related = others.slice(0, MOST_RELATED)
    .map(({ service, code, fingerprint }) => ({ service, code, fingerprint }));
  return {
    ...{ service, detector, check, code, fingerprint, severity, observed_at },
    ...(related.length > 0 ? { related } : {}),
  };
}

/** A detector as it is configured. */
export interface DetectorDescription extends Pick<Detector, "about"> {
  /** Its name. */
  readonly detector: DetectorName;
  /** False: it does not look. */
  readonly enabled: boolean;
  /** Bounds and counts, no names. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** What there is to detect with, and how it is configured. */
export function describeDetectors(
  { settings }: Pick<DetectionContext, "settings">,
): DetectorDescription[] {
  return ALL.map(({ name, about, configuration }) => ({
    detector: name,
    about,
    enabled: settings[name].enabled,
    configuration: configuration(settings),
  }));
}

import type { Client } from "@temporalio/client";
import type { Config } from "../../config.ts";
import { ANY_PLACE, type DetectorName, type Text } from "../../contract/domain/mod.ts";
import type { AlertSource } from "../../integrations/alerts/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import type { FindingRecord } from "../../store/incidents/mod.ts";
import type { Deviation } from "./_deviation.ts";
import type { DetectedFinding } from "./findings.ts";
import type { BadDetectorsFile, DetectorSettings } from "./settings.ts";

/** Surroundings of the detectors. */
export interface DetectionContext {
  /** Settings of the platform. */
  readonly config: Config;
  /** Settings of the detectors. */
  readonly settings: DetectorSettings;
  /** Why the detectors' file, as it is now, is not in force. */
  readonly settingsProblem?: BadDetectorsFile | undefined;
  /** As role `worker`. */
  readonly store: Store;
  /** Name of this host: of its place, as several machines may be called the same, and names of containers change. */
  readonly host: string;
  /**
   * Places whose services are looked at; with `any`, also all that belongs to no place, such as devices. Absent: all, as where
   * there is one place.
   */
  readonly places?: readonly string[] | undefined;
  /** Alerts of others; undefined: none are read. */
  readonly alerts?: AlertSource | undefined;
  /** Code of why the services file, as it is now, is not in force. */
  readonly servicesProblem?: string;
  /** Time limit of each detector; default: eight seconds. */
  readonly timeoutMs?: number;
  /** Returns Temporal's client. @throws where it does not answer */
  temporal(): Promise<Client>;
}

/** A finding with its evidence, which stays in the store. */
export interface DetailedFinding extends DetectedFinding {
  /** Host that it is about; null: none. */
  readonly host: string | null;
  /** Place whose sweep alone looks at it; absent: that of any place does. */
  readonly lookedAtBy?: string | undefined;
  /** One sentence for people. */
  readonly summary: Text;
  /** Figures and samples, a few KB at most. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** Target that the same detector looks at again. */
  readonly target: Readonly<Record<string, unknown>>;
  /** False: it was not seen often enough to be reported, but may be the cause of others. Default: true. */
  readonly counts?: boolean;
  /** How far a measurement is off; absent: its past is unknown. */
  readonly deviation?: Deviation;
}

/** Result of one run of a detector. */
export interface DetectorResult {
  /** Number of targets that were looked at. */
  readonly probed: number;
  readonly found: readonly DetailedFinding[];
  /** Codes, without names, of targets that could not be looked at. */
  readonly problems?: readonly string[];
  /** True: everything was looked at, so earlier findings that are absent are over. Default: there were no problems. */
  readonly complete?: boolean;
  /** Further hosts that were looked at: devices, by their ids. */
  readonly hosts?: readonly string[];
  /** Fingerprints of faults of which nothing is known at the moment: where one was found earlier, it stays. */
  readonly unknown?: readonly string[];
  /** Saves the state that the next run begins with. */
  saveState?(trx: Db): Promise<void>;
}

/** Result of looking at one fault again. */
export interface RecheckResult {
  /** False: the fault is over. */
  readonly present: boolean;
  /** `ok`, or the code of the fault as it is now. */
  readonly code: string;
  /** True: only others still report it, who take minutes to see that it is over. */
  readonly lags?: boolean;
}

/** The fields of a finding that identify its fault. */
export type FaultId = Pick<DetectedFinding, "service" | "code" | "fingerprint">;

/** Time of a recheck: before a repair, or after it. */
export type RecheckTime = "before" | "after";

/** A detector. */
export interface Detector {
  /** Also the name of its block in the settings. */
  readonly name: DetectorName;
  /** Its purpose, in one sentence. */
  readonly about: string;
  /** True: its targets are on the host that it runs on, and its findings are about that host. */
  readonly ofHost: boolean;
  /** True: it looks at services or devices, which every tenant has; else at what is the operator's. */
  readonly ofEveryTenant: boolean;
  /** Returns the figures of its configuration. They are public, and contain no names. */
  configuration(settings: DetectorSettings): Readonly<Record<string, unknown>>;
  /** Looks at all of its targets. Changes nothing before `saveState` of the result is called. */
  detect(context: DetectionContext, deadline: AbortSignal): Promise<DetectorResult>;
  /** Looks at one fault again. @param known the finding as it is recorded */
  recheck(
    context: DetectionContext,
    finding: FaultId,
    known: FindingRecord | undefined,
    time: RecheckTime,
  ): Promise<RecheckResult>;
}

/** Returns a recorded finding whose fault is assumed to be still there. */
export function findingFromRecord(record: FindingRecord): DetailedFinding {
  return {
    fingerprint: record.fingerprint,
    service: record.service,
    host: record.host,
    lookedAtBy: record.place || undefined,
    code: record.code,
    severity: record.severity,
    summary: record.summary,
    detail: record.detail,
    target: record.target,
    detector: record.detector as DetectorName,
    check: record.kind as DetectedFinding["check"],
    observed_at: record.last_seen_at,
  };
}

/** Returns whether a run of detectors looks at what belongs to no place. */
export function looksAtShared({ places }: Pick<DetectionContext, "places">): boolean {
  return places?.includes(ANY_PLACE) ?? true;
}

/** Waits until all work is done or the deadline has passed. @returns undefined: it has passed */
export async function untilDeadline<T>(
  work: readonly Promise<T>[],
  deadline: AbortSignal,
): Promise<T[] | undefined> {
  if (deadline.aborted) return undefined;
  const late = new Promise<undefined>((resolve) => {
    deadline.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  return await Promise.race([Promise.all(work), late]);
}

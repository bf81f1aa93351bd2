import type { Client } from "@temporalio/client";
import type { DetectorName } from "../domain/mod.ts";
import type { DetectedFinding } from "./findings.ts";
import type { Config } from "../config.ts";
import type { Db, FindingRecord, Store } from "../store/mod.ts";
import type { DetectorSettings } from "./settings.ts";

/** What detectors look at, and what they know. */
export interface DetectionContext {
  /** Of the platform. */
  readonly config: Config;
  /** Of the detectors. */
  readonly settings: DetectorSettings;
  /** As role `app`. */
  readonly store: Store;
  /** Name of this host. */
  readonly host: string;
  /** Code of why the services are not those of their file as it is now. */
  readonly servicesProblem?: string;
  /** Temporal's client. @throws where it does not answer */
  temporal(): Promise<Client>;
}

/** A finding with its evidence, which stays in the store. */
export interface DetailedFinding extends DetectedFinding {
  /** Host that it is about; null: none. */
  readonly host: string | null;
  /** One sentence for people. */
  readonly summary: string;
  /** Figures and samples; a few KB at the most. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** What to look at again, for the same detector. */
  readonly target: Readonly<Record<string, unknown>>;
  /** False: it has not been seen often enough to be told, but may be the cause of what is. Default: true. */
  readonly counts?: boolean;
}

/** What a look gave. */
export interface DetectorResult {
  /** How many things were looked at. */
  readonly probed: number;
  /** What is wrong. */
  readonly found: readonly DetailedFinding[];
  /** What could not be looked at, as codes without names. */
  readonly problems?: readonly string[];
  /** Whether everything was seen, so that what was not found is not there. Default: there were no problems. */
  readonly complete?: boolean;
  /** Keeps what the look has taught, for the next one. */
  saveState?(on: Db): Promise<void>;
}

/** Whether a fault is there. */
export interface RecheckResult {
  /** Whether it is still so. */
  readonly present: boolean;
  /** `ok`, or what is wrong now. */
  readonly code: string;
}

/** When a fault is looked at again: before anything is done about it, or after. */
export type RecheckTime = "before" | "after";

/** One kind of looking. */
export interface Detector {
  /** Its block in the file has the same. */
  readonly name: DetectorName;
  /** What it does, in a sentence. */
  readonly about: string;
  /** Whether what it looks at is of the host that it runs on, so that its findings are too. */
  readonly ofHost: boolean;
  /** Figures of its configuration; no names, as anybody may read them. */
  configuration(settings: DetectorSettings): Readonly<Record<string, unknown>>;
  /** Looks at everything. Changes nothing, until what it gives is asked to `remember`. */
  detect(world: DetectionContext, deadline: AbortSignal): Promise<DetectorResult>;
  /**
   * Looks at one fault again.
   *
   * @param known as it was noted; for those who need it to be waited for
   */
  recheck(
    world: DetectionContext,
    finding: DetectedFinding,
    known: Promise<FindingRecord | undefined>,
    moment: RecheckTime,
  ): Promise<RecheckResult>;
}

/** A finding that is believed to be there still, as it was noted. */
export function findingFromRecord(record: FindingRecord): DetailedFinding {
  const { fingerprint, service, host, code, severity, summary, detail, target } = record;
  return {
    ...{ fingerprint, service, host, code, severity, summary, detail, target },
    detector: record.detector as DetectorName,
    check: record.kind as DetectedFinding["check"],
    observed_at: record.last_seen_at,
  };
}

/** Waits for work, but not beyond the deadline: what has been found by then counts. */
export async function untilDeadline(
  work: readonly Promise<void>[],
  deadline: AbortSignal,
): Promise<void> {
  const late = new Promise<void>((resolve) => {
    deadline.addEventListener("abort", () => resolve(), { once: true });
  });
  if (!deadline.aborted) await Promise.race([Promise.all(work), late]);
}

import type { DetectorName } from "./detectors.ts";
import type { Severity } from "./severity.ts";

/** Steps of the loop, in order. */
export const STEPS = ["DETECT", "TICKET", "DIAGNOSE", "REMEDIATE", "VERIFY", "CLOSE+SEAL"] as const;

/** A step of the loop. */
export type StepName = typeof STEPS[number];

/** Code of a service that goes up and down, as long as it is up. */
export const FLAPPING = "flapping";

/** Code of a repair that helped again and again within a short time, and is not repeated: the fault has another cause. */
export const COMES_BACK = "comes_back";

/** Code of the restart of a healthy service that somebody asks for. There is no fault. */
export const RESTART_ASKED = "restart_asked";

/** Code of a repair that nobody can prove, as those who saw the fault can't be asked, or are not to be believed now. */
export const UNPROVEN = "alerts_unknown";

/** Kinds of checks by which detectors find faults. */
export const FINDING_CHECKS = [
  "http",
  "tcp",
  "command",
  "host",
  "log",
  "certificate",
  "platform",
  "alert",
] as const;

/** A kind of check. */
export type FindingCheck = typeof FINDING_CHECKS[number];

/** A fault that was found or reported. Ids and codes only: texts and evidence stay in the store. */
export interface Finding {
  /** Tenant of the service; absent: that of the run. */
  readonly tenant_id?: string;
  /** Name of the affected service; null: none is known. */
  readonly service: string | null;
  /** Detector that found it; absent: a person reported it. */
  readonly detector?: DetectorName;
  /** Kind of check that failed, or `report`. */
  readonly check: FindingCheck | "report";
  /** Kind of fault: refused, timeout, status_500, disk_full, expired, brute_force, reported, … */
  readonly code: string;
  /** 16 hex characters, the same for the same fault. */
  readonly fingerprint: string;
  /** ISO 8601. */
  readonly observed_at: string;
  /** First estimate, used where the engine is away; absent: high. */
  readonly severity?: Severity;
  /** Place that looks at it again and repairs it; absent: that of its service. */
  readonly place?: string;
  /** Findings that it probably causes, nearest first. */
  readonly related?: readonly RelatedFinding[];
  /** Requesting key; absent: the schedule. */
  readonly requested_by?: string;
  /** Why a fault that was left to people is tried again: a part of a sentence. */
  readonly tried_again?: string;
  /** Text of a person's report, at most 4,000 characters. */
  readonly report?: string;
  /** Action that was approved after the requesting run had ended; this run continues from there. */
  readonly resumes?: {
    readonly approval_id: string;
    readonly action_sha256: string;
    /** Receipt of the requesting run; null: it has none. */
    readonly receipt_id: string | null;
  };
}

/** Another finding of the same incident. */
export interface RelatedFinding {
  readonly service: string | null;
  readonly code: string;
  readonly fingerprint: string;
}

/** Record of one step. */
export interface StepRecord {
  readonly step: StepName;
  readonly state:
    | "detected"
    | "ticketed"
    | "diagnosed"
    | "remediated"
    | "verified"
    | "sealed"
    | "failed"
    | "clear";
  readonly round: number;
  /** ISO 8601. */
  readonly started_at: string;
  readonly ended_at: string;
}

/** Result of a loop. */
export interface LoopResult {
  readonly outcome: "sealed" | "clear" | "escalated";
  readonly steps: readonly StepRecord[];
  readonly ticket_id: string | null;
  readonly receipt_id: string | null;
  /** Of a clear result that somebody asked for: what was looked at, and that nothing was found. */
  readonly says?: string;
}

/** Ids of a run. With the step they name everything that must not be done twice. */
export interface RunId {
  readonly workflow_id: string;
  readonly run_id: string;
}

/** Progress of a loop, for callers who wait and for the Web UI. */
export interface Progress {
  readonly step: StepName | null;
  readonly round: number;
  readonly ticket_id: string | null;
  /** Approval that it waits for. */
  readonly approval_id: string | null;
  readonly steps: readonly StepRecord[];
}

/** Result of a sweep. */
export interface SweepResult {
  /** Number of things that the detectors examined. */
  readonly probed: number;
  readonly findings: number;
  /** Number of incidents that the findings were grouped into. */
  readonly incidents: number;
  /** Ids of the loops that run for the findings, whether this sweep started or joined them. */
  readonly loops: readonly string[];
}

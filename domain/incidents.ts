import type { DetectorName } from "./detectors.ts";
import type { Severity } from "./severity.ts";

/** The six steps, in their order. */
export const STEPS = ["DETECT", "TICKET", "DIAGNOSE", "REMEDIATE", "VERIFY", "CLOSE+SEAL"] as const;

/** A step of the loop. */
export type StepName = typeof STEPS[number];

/** A fault that was found or reported. Ids and codes only: texts and evidence stay in the store. */
export interface Finding {
  /** Name of the service that is concerned; null: none that is known. */
  readonly service: string | null;
  /** Who found it; absent: a person reported it. */
  readonly detector?: DetectorName;
  /** Kind of check that failed, or `report`. */
  readonly check:
    | "http"
    | "tcp"
    | "command"
    | "host"
    | "log"
    | "certificate"
    | "platform"
    | "report";
  /** What is wrong: refused, timeout, status_500, disk_full, expired, brute_force, reported, … */
  readonly code: string;
  /** 16 hex characters: the same fault has the same. */
  readonly fingerprint: string;
  /** ISO 8601. */
  readonly observed_at: string;
  /** A first guess, for when nobody can judge it; absent: high. */
  readonly severity?: Severity;
  /** Other findings that it is likely to be the cause of, those nearest to it first. */
  readonly related?: readonly RelatedFinding[];
  /** Key of the person or program that asked; absent: the schedule did. */
  readonly requested_by?: string;
  /** What a person reported, 4,000 characters at most. */
  readonly report?: string;
  /** An action that was approved when the run that had asked was over: this run goes on from there. */
  readonly resumes?: {
    readonly approval_id: string;
    readonly action_sha256: string;
    /** Of the run that had asked; null: it has none. */
    readonly receipt_id: string | null;
  };
}

/** Another finding of the same incident. */
export interface RelatedFinding {
  readonly service: string | null;
  readonly code: string;
  readonly fingerprint: string;
}

/** One step of a run, as it went. */
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

/** How a run of the loop ended. */
export interface LoopResult {
  readonly outcome: "sealed" | "clear" | "escalated";
  readonly steps: readonly StepRecord[];
  readonly ticket_id: string | null;
  readonly receipt_id: string | null;
}

/** Which run it is: with the step, the name of everything that must not be done twice. */
export interface RunId {
  readonly workflow_id: string;
  readonly run_id: string;
}

/** How far a loop is: for callers who wait, and for the Web UI. */
export interface Progress {
  readonly step: StepName | null;
  readonly round: number;
  readonly ticket_id: string | null;
  /** Approval that it waits for. */
  readonly approval_id: string | null;
  readonly steps: readonly StepRecord[];
}

/** What a sweep found and started. */
export interface SweepResult {
  /** How many things the detectors looked at. */
  readonly probed: number;
  readonly findings: number;
  /** How many incidents the findings are. */
  readonly incidents: number;
  /** Ids of the loops that run for the findings, whether this sweep started or joined them. */
  readonly loops: readonly string[];
}

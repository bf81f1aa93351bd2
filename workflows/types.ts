/** Task queues of `temporal.yaml`. */
export const TASK_QUEUE = { itsm: "itsm", ledger: "ledger" } as const;

/** Names of the workflow types, as clients start them. */
export const ITSM_LOOP = "itsmLoop";
export const ITSM_TEST = "itsmTest";
export const ITSM_SWEEP = "itsmSweep";
export const RECONCILE_RUNS = "reconcileRuns";
export const SEAL_REQUEST = "sealRequest";
export const LEDGER_SEQUENCER = "ledgerSequencer";
export const SCRUB_LEDGER = "scrubLedger";
export const ANCHOR_RECEIPTS = "anchorReceipts";
export const ANCHOR_BATCH = "anchorBatch";

/** A batch of receipts on its way into Bitcoin. */
export interface AnchorBatch {
  /** Positions of its first and last receipt. */
  readonly first: number;
  readonly last: number;
  /** Seconds until a calendar is first asked again, > 0. */
  readonly poll_seconds: number;
  /** Attempts made so far. */
  readonly attempt: number;
}

/** Ways in which the test service can be broken. */
export const SCENARIOS = ["crash", "hang", "wrong_answers", "disk_full"] as const;
/** A way in which the test service can be broken. */
export type Scenario = typeof SCENARIOS[number];

/** The six steps, in their order. */
export const STEPS = ["DETECT", "TICKET", "DIAGNOSE", "REMEDIATE", "VERIFY", "CLOSE+SEAL"] as const;
/** A step of the loop. */
export type StepName = typeof STEPS[number];

/** A fault that was found or reported. Ids and codes only: texts and evidence stay in the store. */
export interface Finding {
  /** Name of the service that is concerned; null: none that is known. */
  readonly service: string | null;
  /** Who found it; absent: a person reported it. */
  readonly detector?: "service_probes" | "host_resources" | "logs" | "certificates" | "platform";
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
  readonly severity?: "critical" | "high" | "medium" | "low";
  /** Other findings that it is likely to be the cause of, those nearest to it first. */
  readonly related?: readonly RelatedFinding[];
  /** Key of the person or program that asked; absent: the schedule did. */
  readonly requested_by?: string;
  /** What a person reported, 4,000 characters at most. */
  readonly report?: string;
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

/** What a repair does. Its hash is what an approval is for. */
export interface Action {
  /** Names this one act, of this round of this run: 24 hex characters. */
  readonly id: string;
  readonly kind: "restart";
  readonly service: string;
  /** Over kind, service and runbook entry. */
  readonly sha256: string;
}

/** What was found to be the cause, and what the service's runbook has against it. */
export interface Diagnosis {
  readonly cause: string;
  readonly basis: "probe_and_runbook";
  /** Null: the runbook lists nothing. */
  readonly action: Action | null;
}

/** What became of a repair. */
export interface Effect {
  readonly id: string;
  readonly state: "done" | "not_done" | "unknown";
  readonly code: string;
}

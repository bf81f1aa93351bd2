/** Task queues of `temporal.yaml`. */
export const TASK_QUEUE = { itsm: "itsm", ledger: "ledger" } as const;

/** Names of the workflow types, as clients start them. */
export const ITSM_LOOP = "itsmLoop";
export const ITSM_TEST = "itsmTest";
export const ATTACK_SIMULATION = "attackSimulation";
export const SECURITY_SCAN = "securityScan";
export const ITSM_SWEEP = "itsmSweep";
export const RECONCILE_RUNS = "reconcileRuns";
export const SEAL_REQUEST = "sealRequest";
export const LEDGER_SEQUENCER = "ledgerSequencer";
export const SCRUB_LEDGER = "scrubLedger";
export const ANCHOR_RECEIPTS = "anchorReceipts";
export const ANCHOR_BATCH = "anchorBatch";
export const APPROVAL = "approval";
export const GOVERNED_ACT = "governedAct";
export const WEBHOOK_DELIVERY = "webhookDelivery";
export const WEBHOOK_RELAY = "webhookRelay";

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

/** Attacks that a sandbox can be put under. */
export const ATTACKS = [
  "ssh_brute_force",
  "port_scan",
  "ransomware",
  "exfiltration",
  "crash_loop",
] as const;
/** An attack that a sandbox can be put under. */
export type AttackScenario = typeof ATTACKS[number];

/** What an attack has done, all of it within its sandbox. */
export interface AttackCounts {
  /** Passwords that were tried. */
  readonly attempts: number;
  readonly ports_scanned: number;
  readonly files_altered: number;
  readonly files_restored: number;
  /** Bytes carried to the sandbox's own sink. */
  readonly bytes_out: number;
  readonly crashes: number;
}

/** What a security scan gave. */
export interface ScanResult {
  readonly scanners: readonly {
    readonly scanner: string;
    readonly state: "ok" | "not_configured" | "failed";
    readonly findings: number;
  }[];
  readonly findings: number;
  readonly receipt_id: string;
}

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

/** A step of a repair, with everything filled in: what `integrations/runbooks` carries out. */
export interface ActionStep {
  readonly step: string;
  readonly kind: string;
  /** What it does, in a sentence for people. */
  readonly does: string;
  readonly [more: string]: unknown;
}

/** What a repair does: a runbook, made ready for one service. Its hash is what an approval is for. */
export interface Action {
  /** Names this one act, of this round of this run: 24 hex characters. */
  readonly id: string;
  readonly runbook: string;
  readonly version: string;
  readonly service: string;
  readonly steps: readonly ActionStep[];
  /** Why a person must be asked first, a sentence a bound that it passes; empty: it need not be. */
  readonly exceeds: readonly string[];
  /** Over the runbook's file, the allow-list, and what the services file says: changed means another action. */
  readonly source_sha256: string;
  /** Over all of it but the id. */
  readonly sha256: string;
}

/** What was found to be the cause, what that rests on, and what is to be done about it. */
export interface Diagnosis {
  readonly cause: string;
  /** `runbook_alone`: the engine was away, so what the service and the finding themselves say has to do. */
  readonly basis: "engine_and_runbook" | "runbook_alone";
  /** Null: the engine was away. */
  readonly classification: {
    readonly category: string;
    readonly severity: string;
    readonly confidence: number;
    readonly provider: string;
  } | null;
  /** Articles and incidents that the classification rests on. */
  readonly citations: readonly { readonly id: string; readonly sha256: string }[];
  /** Runbooks that fit but can't be used here, and why. */
  readonly passed_over: readonly { readonly runbook: string; readonly code: string }[];
  /** Null: no runbook fits. */
  readonly action: Action | null;
}

/** Whether a repair may be done, and on whose word. */
export interface Permission {
  readonly granted: boolean;
  /** What the guardrails said; `away`: they could not be asked. */
  readonly decision: "allow" | "needs_approval" | "deny" | "away";
  readonly policy_version?: string;
  /** Of the sealed verdict; null: there is none. */
  readonly receipt_id: string | null;
  /** The approval that meets it. */
  readonly approval?: { readonly approval_id: string; readonly approvers: readonly string[] };
  /** Principal in whose name a person is to be asked, where one is. */
  readonly requested_by?: string;
}

/** The switch that stops what was going to be done. Why it was set is private. */
export interface Held {
  readonly kind: "all" | "key" | "tool";
  /** Key id, or name of a tool or operation; empty: everything. */
  readonly name: string;
}

/** What came of asking for a repair. */
export interface Repaired {
  readonly permission: Permission;
  /** Null: it was not permitted, and nothing was done. */
  readonly effect: Effect | null;
  /** The rest is not done as long as this holds: asked again afterwards, it goes on where it was. */
  readonly held?: Held;
}

/** What a look after a repair gave. */
export interface Proof {
  readonly healthy: boolean;
  readonly code: string;
}

/** What became of a step. */
export interface StepEffect {
  readonly id: string;
  readonly step: string;
  readonly kind: string;
  readonly state: "done" | "not_done" | "unknown";
  readonly code: string;
  /** Whether it ended as it should, and was seen to have worked. */
  readonly ok: boolean;
  readonly counts?: Readonly<Record<string, number>>;
}

/** What became of a repair. */
export interface Effect {
  /** Of the action. */
  readonly id: string;
  /** `partly_done`: something was done, but not all of it, or not as it should. */
  readonly state: "done" | "partly_done" | "not_done" | "unknown";
  /** Of the step that did not end as it should, else of the last that changed something; where none did, of the last. */
  readonly code: string;
  readonly steps: readonly StepEffect[];
  /** Whether something of it can be undone. */
  readonly undoable: boolean;
}

/** What became of undoing a repair. */
export interface Undone {
  readonly state: "done" | "not_done" | "unknown";
  readonly code: string;
  /** In the order in which they were undone: the last one first. */
  readonly steps: readonly StepEffect[];
  /** The rest is not undone as long as this holds. */
  readonly held?: Held;
}

/** Tells an approval's run that somebody has said something, which the database has: this proves nothing by itself. */
export interface Voice {
  readonly voice_id: string;
}

/** How long an approval waits, and for how many. */
export interface ApprovalTerms {
  /** How many different holders of keys must approve, 1 to 10. */
  readonly needed: number;
  /** From the request, or from its reopening. */
  readonly expires_in_seconds: number;
  /** Seconds without a decision until people are told once more; 0: they are not. */
  readonly escalate_after_seconds: number;
}

/** The loop that asks, with what it is about: a new run is started from it where that one has ended. */
export interface AskingRun extends RunId {
  readonly finding: Finding;
}

/** What people are asked. Terms that are left out are those of the settings. */
export interface ApprovalRequest extends Partial<ApprovalTerms> {
  /** `APR-` and 12 hex characters. */
  readonly approval_id: string;
  /** What it is about: a ticket id, or what a program names. Public. */
  readonly subject: string;
  /** SHA-256 of the action's canonical JSON, hex: nothing else is approved. */
  readonly action_sha256: string;
  /** Who asks, and therefore can't approve: a principal, `key:<id>` for the holder of that key, `itsm-loop` for nobody. */
  readonly requested_by: string;
  /** Ticket whose timeline tells of it. */
  readonly ticket_id?: string;
  /** What people are shown. Absent: the store has it already. */
  readonly action?: Readonly<Record<string, unknown>>;
  readonly asking_run?: AskingRun;
  /** A call is run once it is approved: {@linkcode GovernedActResult} is how that ends. */
  readonly acts?: boolean;
  /** Where an earlier run ended, and after how many moves; such a run waits to be reopened. */
  readonly reopens?: { readonly status: "denied" | "expired"; readonly moves: number };
}

/** How an approval stands. */
export interface ApprovalState {
  readonly status: "pending" | "approved" | "denied" | "expired";
  /** Keys that have approved since it is pending, `key:<id>`. */
  readonly approvers: readonly string[];
  readonly escalated: boolean;
  /** How many moves there were. */
  readonly moves: number;
  /** How often this run was reopened. */
  readonly cycle: number;
  /** Of the last move that is sealed. */
  readonly receipt_id: string | null;
}

/** How an approval ended. */
export interface ApprovalResult extends ApprovalState {
  readonly action_sha256: string;
}

/** How a call ended that people had approved. */
export interface GovernedActResult {
  readonly approval_id: string;
  /** `failed`: it was run and gave an error; `refused`: it was not run; `unknown`: it was begun, and nobody can tell. */
  readonly state: "done" | "failed" | "refused" | "unknown";
  /** What went wrong, by its kind. */
  readonly error: string | null;
  readonly receipt_id: string;
}

/** How a webhook's delivery ended. */
export interface DeliveryResult {
  readonly state: "queued" | "delivered" | "dead";
  readonly attempts: number;
  /** `status_<n>`, or why there was no answer. */
  readonly code: string;
}

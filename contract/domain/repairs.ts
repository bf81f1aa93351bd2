/** A step of a repair, with everything filled in, as `runbooks/` runs it. */
interface ActionStep {
  readonly step: string;
  readonly kind: string;
  /** Description, a sentence for people. */
  readonly does: string;
  readonly [more: string]: unknown;
}

/** SHA-256 of each thing that a repair is made from. */
export interface ActionSources {
  readonly runbook_sha256: string;
  readonly commands_sha256: string;
  readonly restart_sha256: string;
  readonly check_sha256: string;
  readonly values_sha256: string;
}

/** A repair: a runbook made ready for one service. An approval is for its hash. */
export interface Action {
  /** Id of this action in this round of this run, 24 hex characters. */
  readonly id: string;
  readonly runbook: string;
  readonly version: string;
  readonly service: string;
  readonly steps: readonly ActionStep[];
  /** Bounds that it exceeds, a sentence each, so that a person must be asked; empty: none. */
  readonly exceeds: readonly string[];
  /** Where one of them changes, it is another action. */
  readonly sources: ActionSources;
  /** Denied approval that a person offers this repair instead of; absent: the loop has found it. */
  readonly instead_of?: string;
  /** SHA-256 over all fields but the id. */
  readonly sha256: string;
}

/** The kind of a fault. */
interface FaultClass {
  readonly category: string;
  readonly severity: string;
  /** Likelihood that the category is right, 0 to 1. */
  readonly confidence: number;
  /** The detector that measured it, or who read words about it: `local` or a model's provider. */
  readonly provider: string;
}

/** A cause that was considered and is none. */
export interface Alternative {
  readonly cause: string;
  /** Numbers of the observations that speak for it. */
  readonly observations: readonly number[];
  readonly because: string;
}

/** Hypotheses in the order of a model, which decides nothing. Its words are on the ticket. */
interface OrderedHypotheses {
  /** Name of the model. */
  readonly written_by: string;
  /** Numbers of observations are those that its words cite. */
  readonly order: readonly { readonly cause: string; readonly observations: readonly number[] }[];
}

/** A diagnosis: the symptom, its cause where it is known, the evidence for it, and the action against it. */
export interface Diagnosis {
  /** Code of the failed check. It is no cause. */
  readonly symptom: string;
  /** Null: what was observed names none. */
  readonly cause: string | null;
  /** Likelihood that the cause is right, 0 to 1; 0 where none is named. */
  readonly cause_confidence: number;
  /** Numbers of the observations that name the cause. */
  readonly observations: readonly number[];
  readonly alternatives: readonly Alternative[];
  /** A model's order of what nothing rules out, where one is configured. The cause stays the rules'. */
  readonly hypotheses?: OrderedHypotheses;
  /**
   * `observed`: the cause decided the category; `measured`: what a detector measured did; `words`: a report or lines of a log
   * did; `runbook_alone`: there are only words, and the engine was away.
   */
  readonly basis: "observed" | "measured" | "words" | "runbook_alone";
  /** Null: there are only words, and the engine was away. */
  readonly classification: FaultClass | null;
  /** Articles and past incidents about the fault. */
  readonly citations: readonly { readonly id: string; readonly sha256: string }[];
  /** Runbooks that match but can't be used here, with the reason's code. */
  readonly passed_over: readonly { readonly runbook: string; readonly code: string }[];
  /** Null: no runbook matches. */
  readonly action: Action | null;
}

/** The permission for a repair: granted or not, and by whom. */
export interface Permission {
  readonly granted: boolean;
  /** The guardrails' decision; `away`: they could not be reached; `taken`: they were not asked, as a person has the ticket. */
  readonly decision: "allow" | "needs_approval" | "deny" | "away" | "taken";
  readonly policy_version?: string;
  /** Receipt of the sealed verdict; null: there is none. */
  readonly receipt_id: string | null;
  /** The approval that the decision needed. */
  readonly approval?: { readonly approval_id: string; readonly approvers: readonly string[] };
  /** The standing grant that allowed it without asking, and which of its uses this is. */
  readonly grant?: string;
  readonly use?: number;
  /** Principal in whose name a person is asked. */
  readonly requested_by?: string;
}

/** A stop or a maintenance window that holds back a repair, or guardrails that can't be asked. Its reason is private. */
export interface RepairHold {
  readonly kind: "all" | "key" | "tool" | "maintenance" | "guardrails";
  /** Key id, name of a tool or operation, or id of the calendar's event; empty: everything, or the guardrails. */
  readonly name: string;
  /** End of a maintenance window, ISO 8601. */
  readonly until?: string;
}

/** Facts that holds of repairs are compared with. */
export interface RepairSubject {
  readonly service: string;
  /** `key:<id>`, or another requester. */
  readonly requested_by?: string | undefined;
}

/** Result of a repair. */
export interface RepairResult {
  readonly permission: Permission;
  /** Null: it was not permitted, and nothing was done. */
  readonly effect: RepairEffect | null;
  /** True: alerts about it were silenced, or may have been. */
  readonly silenced?: boolean;
  /** Holds back the remaining steps; a later attempt goes on from there. */
  readonly held?: RepairHold;
  /** True: what it was made from has changed, so that nothing was done and it has to be made anew. */
  readonly outdated?: boolean;
}

/** Result of verifying a service after a repair. */
export interface VerifyResult {
  readonly healthy: boolean;
  readonly code: string;
}

/** The fields that a place signs about an act, besides its result. */
export interface PlaceSignature {
  readonly action_id: string;
  /** From 1. */
  readonly round: number;
  /** Of the action, from 1. */
  readonly step: number;
  /** Id of the place: its public key, as hex. */
  readonly place: string;
  /** Ed25519, hex. */
  readonly place_signature: string;
}

/** Result of one step. */
export interface StepResult {
  readonly id: string;
  readonly step: string;
  readonly kind: string;
  readonly state: "done" | "not_done" | "unknown";
  readonly code: string;
  /** True: it succeeded and was verified. */
  readonly ok: boolean;
  readonly counts?: Readonly<Record<string, number>>;
  /** Absent: no worker of the place has said it, as where the place is away. */
  readonly signed?: PlaceSignature;
}

/** Effect of a repair. */
export interface RepairEffect {
  /** Id of the action. */
  readonly id: string;
  /** `partly_done`: some steps were done, or one did not succeed. */
  readonly state: "done" | "partly_done" | "not_done" | "unknown";
  /** Code of the failed step, else of the last step that changed something, else of the last step. */
  readonly code: string;
  readonly steps: readonly StepResult[];
  /** True: a step of it can be undone. */
  readonly undoable: boolean;
}

/** Result of undoing a repair. */
export interface UndoResult {
  readonly state: "done" | "not_done" | "unknown";
  readonly code: string;
  /** In the order of undoing, last step first. */
  readonly steps: readonly StepResult[];
  /** Holds back undoing the rest. */
  readonly held?: RepairHold;
}

/** Codes of steps that are done and change nothing: they note something, or wait. */
const NO_CHANGES: ReadonlySet<unknown> = new Set(["told", "joined", "no_ticket_to_join", "ok"]);

/** Returns whether a step of a repair has changed something. Whoever only waited has repaired nothing. */
export function isChange(
  { state, code }: { readonly state: string; readonly code?: string | null },
): boolean {
  return state === "done" && !NO_CHANGES.has(code);
}

import type { Finding, RunId } from "./incidents.ts";

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

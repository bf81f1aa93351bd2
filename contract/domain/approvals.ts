import type { Finding, RunId } from "./incidents.ts";

/** Argument of the updates that make moves: names a vote in the database, and proves nothing by itself. */
export interface VoteRef {
  readonly vote_id: string;
}

/** A repair that a person offers instead of one that they deny. */
export interface RepairOffer {
  readonly runbook: string;
  /** Values of its parameters, besides those that the service gives. */
  readonly values: Readonly<Record<string, string | number | readonly string[]>>;
}

/** Terms of an approval: how many people, and for how long. */
export interface ApprovalTerms {
  /** Number of different holders of keys who must approve, 1 to 10. */
  readonly needed: number;
  /** Seconds from the request, or from its reopening. */
  readonly expires_in_seconds: number;
  /** Seconds without a decision until people are notified again; 0: never. */
  readonly escalate_after_seconds: number;
}

/** The loop that asks, with its finding: where it has ended, a new run is started from it. */
export interface RequestingRun extends RunId {
  readonly finding: Finding;
}

/** A request to people. Terms that are absent are those of the settings. */
export interface ApprovalRequest extends Partial<ApprovalTerms> {
  /** `APR-` and 12 hex characters. */
  readonly approval_id: string;
  /** Ticket id, or a name that a program gives. Public. */
  readonly subject: string;
  /** SHA-256 of the action's canonical JSON, hex; the approval is for exactly this. */
  readonly action_sha256: string;
  /** Requester, who can't approve: a principal, `key:<id>` for the holder of that key, or `itsm-loop`. */
  readonly requested_by: string;
  /** Ticket whose timeline shows the moves. */
  readonly ticket_id?: string;
  /** Action as people are shown it. Absent: it is in the store already. */
  readonly action?: Readonly<Record<string, unknown>>;
  readonly asking_run?: RequestingRun;
  /** True: a held call is run once it is approved. */
  readonly acts?: boolean;
  /** Status and moves of an earlier run that has ended; such a run waits to be reopened. */
  readonly reopens?: { readonly status: "denied" | "expired"; readonly moves: number };
}

/** `outdated`: what was asked about has changed, so that it is made anew and asked for by another approval. */
type ApprovalStatus = "pending" | "approved" | "denied" | "expired" | "outdated";

/** State of an approval. */
export interface ApprovalState {
  readonly status: ApprovalStatus;
  /** Keys that have approved since it became pending, `key:<id>`. */
  readonly approvers: readonly string[];
  readonly escalated: boolean;
  /** Number of moves so far. */
  readonly moves: number;
  /** Times that this run was reopened. */
  readonly cycle: number;
  /** Receipt of the last sealed move. */
  readonly receipt_id: string | null;
  /** True: whoever denied it offers another repair instead. */
  readonly offered?: boolean;
}

/** Result of an approval. */
export interface ApprovalResult extends ApprovalState {
  readonly action_sha256: string;
}

/** Result of an approved call. */
export interface HeldCallResult {
  readonly approval_id: string;
  /** `failed`: it ran and gave an error; `refused`: it did not run; `unknown`: it began, and its end can't be proven. */
  readonly state: "done" | "failed" | "refused" | "unknown";
  /** Kind of the error. */
  readonly error: string | null;
  readonly receipt_id: string;
}

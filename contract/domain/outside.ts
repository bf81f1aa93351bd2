/** Acts in the operator's own systems, such as n8n, Fleet and Mastodon. */

/** Known end of an act. `unknown`: nobody can tell whether it was done, and it is not repeated. */
export const ACT_STATES = ["done", "not_done", "unknown"] as const;

/** Known end of an act. */
export type ActState = typeof ACT_STATES[number];

/** Order of an act. What it does is in the database, under the decision, or the approval, that allowed it. */
export interface ActOrder {
  /** `ACT-` and 12 hex characters, made from the decision's. */
  readonly act_id: string;
  /** Id of a decision, `GOV-…`, or of an approval, `APR-…`. */
  readonly decision_id: string;
}

/** Result of the one attempt of an act. */
export interface ActAttempt {
  /** `sent`: the system has accepted it. */
  readonly state: "sent" | "not_done" | "unknown";
  /** `accepted`, or why not: `timeout`, `credential`, `refused`, … */
  readonly code: string;
  /** Id of the act in the system; null: not known. */
  readonly execution_id: string | null;
}

/** Proof of an act: a record that the system itself shows. */
export interface ActProof {
  readonly execution_id: string | null;
  /** `unknown`: it can't show anything. */
  readonly state: ActState;
  /** End of the act there: `execution_success`, `exit_1`, … */
  readonly code: string;
  /** False: it goes on. */
  readonly has_ended: boolean;
}

/** End of an act, as it is sealed. */
export interface ActResult {
  readonly act_id: string;
  readonly state: ActState;
  readonly code: string;
  readonly execution_id: string | null;
  readonly receipt_id: string;
}

/** Returns the id of an act's workflow. */
export const actWorkflowId = (actId: string): string => `act-${actId}`;

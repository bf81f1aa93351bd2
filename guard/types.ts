/** An action that is proposed. Keys besides these are kept, and looked at as text. */
export interface ProposedAction {
  readonly description?: unknown;
  /** A shell line. */
  readonly command?: unknown;
  /** A service or host. */
  readonly target?: unknown;
  /** 0 to 1. */
  readonly confidence?: unknown;
  /** Number of services, or low, medium, high for 1, 3, 10. */
  readonly blast_radius?: unknown;
  readonly touches_secrets?: unknown;
  readonly [more: string]: unknown;
}

/** What is to be judged: an incident, what is proposed about it, and what is known besides. */
export interface ValidateRequest {
  readonly incident: string;
  readonly action?: ProposedAction;
  /** What the caller knows of it; the loop fills it in. */
  readonly context?: {
    readonly ticket_id?: string;
    /** Articles that the action rests on, with the hashes that they were retrieved with. */
    readonly citations?: readonly { readonly id: string; readonly sha256: string }[];
    /** Its commands are on the list of those that runbooks may run. */
    readonly listed?: boolean;
    /** What the last probe saw, by name; such as `{ service: "db", healthy: false }`. */
    readonly observed?: Readonly<Record<string, unknown>>;
  };
}

/** The four rails, in the order in which they are told. */
export const RAILS = [
  "input_safety",
  "execution_bounds",
  "output_fact_check",
  "retrieval_integrity",
] as const;

/** Name of a rail. */
export type RailName = typeof RAILS[number];

/** What becomes of an action: done, shown to a person first, or refused. */
export const DECISIONS = ["allow", "needs_approval", "deny"] as const;

/** One of {@linkcode DECISIONS}. */
export type Decision = typeof DECISIONS[number];

/** What a rail says. */
export interface RailVerdict {
  readonly rail: RailName;
  readonly passed: boolean;
  /** Why, in sentences for a person; those of a passed rail say what was looked at. */
  readonly reasons: readonly string[];
  /** What would make it pass; null where it has passed. */
  readonly remedy: string | null;
}

/** The verdict of all rails. */
export interface GuardVerdict {
  /** True for `allow` alone. */
  readonly approved: boolean;
  readonly decision: Decision;
  readonly rails: readonly RailVerdict[];
  /** Version of the policy that was applied. */
  readonly policy_version: string;
}

/** One thing that speaks against an action. */
export interface Objection {
  /** `deny`: hostile or destructive; `ask`: a person may still allow it. */
  readonly weight: "deny" | "ask";
  /** Machine-readable kind, a few words with underscores; goes into receipts. */
  readonly code: string;
  /** A sentence, without the secret or the payload that it speaks of. */
  readonly reason: string;
  /** What would make it go away. */
  readonly remedy: string;
}

/** What a rail found: what speaks against the action, and what is worth saying besides. */
export interface Finding {
  readonly objections: readonly Objection[];
  readonly notes: readonly string[];
}

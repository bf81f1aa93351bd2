/** Types of requests to the guardrails and of their verdicts. */
import type { Decision } from "../../contract/domain/mod.ts";

/** A proposed action. Further keys are kept and read as text. */
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

/** A request to judge: an incident, the action that is proposed, and what the caller knows. */
export interface ValidateRequest {
  readonly incident: string;
  readonly action?: ProposedAction;
  /** Facts that the caller knows; the loop fills them in. */
  readonly context?: {
    readonly ticket_id?: string;
    /** Articles that the action rests on, with the hashes they were retrieved with. */
    readonly citations?: readonly { readonly id: string; readonly sha256: string }[];
    /**
     * The part that may change something: `nothing` of it; its `command`, which the guardrails read; or `more` than that. A change
     * freeze holds only what may. Default: `command`.
     */
    readonly changes?: "nothing" | "command" | "more";
    /** Its commands are on the list of those that runbooks may run. */
    readonly listed?: boolean;
    /** The result of the last probe, such as `{ service: "db", healthy: false }`. */
    readonly observed?: Readonly<Record<string, unknown>>;
  };
}

/** The four rails, in the order of a verdict. */
export const RAILS = [
  "input_safety",
  "execution_bounds",
  "output_fact_check",
  "retrieval_integrity",
] as const;

/** Name of a rail. */
export type RailName = typeof RAILS[number];

/** The verdict of one rail. */
export interface RailVerdict {
  readonly rail: RailName;
  readonly passed: boolean;
  /** Sentences for a person. Those of a passed rail say what was checked. */
  readonly reasons: readonly string[];
  /** Advice to make it pass; null where it has passed. */
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

/** One reason against an action. */
export interface Objection {
  /** `deny`: hostile or destructive; `ask`: a person may still allow it. */
  readonly weight: "deny" | "ask";
  /** Machine-readable kind, a few words with underscores; goes into receipts. */
  readonly code: string;
  /** A sentence that does not repeat the secret or the payload it is about. */
  readonly reason: string;
  /** Advice to remove the objection. */
  readonly remedy: string;
}

/** The result of one rail: objections, and notes about what was checked. */
export interface RailResult {
  readonly objections: readonly Objection[];
  readonly notes: readonly string[];
}

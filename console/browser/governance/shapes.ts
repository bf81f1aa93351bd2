/** The parts of the answers about governance that its page shows. */

/** A decision about one call. */
export interface Decision {
  readonly decision_id: string;
  readonly at: string;
  readonly key_id: string;
  readonly principal: string;
  readonly door: string;
  readonly tool: string;
  readonly decision: "allow" | "needs_approval" | "deny";
  readonly rule: string;
  readonly reasons: readonly string[];
  readonly approval_id: string | null;
}

/** A version of the policy. */
export interface PolicyVersion {
  readonly version: number;
  readonly name: string;
  readonly set_at: string;
  readonly text: string;
}

/** A rule that may have decided, and how. */
export interface Outcome {
  readonly rule: string;
  readonly decision: Decision["decision"];
}

/** Decisions that a changed policy would have made. */
export interface Trial {
  readonly in_force: string;
  readonly since: string;
  readonly calls: number;
  readonly is_all: boolean;
  readonly same: number;
  readonly changes: number;
  readonly unsure: number;
  readonly changed: readonly {
    readonly call: Decision;
    readonly before: readonly Outcome[];
    readonly after: readonly Outcome[];
  }[];
  readonly warnings: readonly string[];
}

/** A key, without the key itself. */
export interface KeyInfo {
  readonly key_id: string;
  readonly tenant: string;
  readonly tier: string;
  readonly scope: string;
  readonly principal: string;
  readonly may_approve: boolean;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
}

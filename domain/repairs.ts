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

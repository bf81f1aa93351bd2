/** The parts of the gateway's answers that pages show. `/openapi.json` describes them whole. */
import type { ShownCall, StatedApproval } from "../../ledger/passkeys/mod.ts";

/** Who has signed in. */
export interface Person {
  readonly principal: string;
  readonly tenant_id: string;
  readonly rights: readonly ("read" | "respond" | "approve" | "operate")[];
  readonly passkeys: number;
  readonly expires_at: string;
}

/** An approval in a list. */
export interface Approval extends StatedApproval {
  readonly status: "pending" | "approved" | "denied" | "expired" | "outdated";
  readonly ticket_id: string | null;
  /** Those that have the same ask for the same. */
  readonly group: string;
  readonly action_sha256: string;
  readonly target: string | null;
  readonly approvers: readonly { readonly principal: string }[];
  readonly escalated: boolean;
  readonly asked_at: string;
  readonly expires_at: string;
  readonly decided_at: string | null;
}

/** Approvals that ask for the same. */
export interface ApprovalGroup {
  readonly group: string;
  readonly size: number;
  /** The one that waits longest. */
  readonly first: Approval;
}

/** Known facts around an approval. */
export interface ApprovalContext {
  readonly undo: readonly { readonly does: string; readonly undo: string }[];
  readonly before: {
    readonly runs: number;
    readonly succeeded: number;
    readonly newest: readonly {
      readonly at: string;
      readonly id: string;
      readonly state: string;
      readonly helped: boolean | null;
    }[];
  } | null;
  readonly outcome: {
    readonly state: string;
    readonly error: string | null;
    readonly receipt_id: string | null;
    readonly ticket_id: string | null;
    readonly resolution: string | null;
  } | null;
  /** Of the call that asks, instead of which others can be offered; null: none can. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  readonly alternatives: readonly {
    readonly runbook: string;
    readonly title: string;
    readonly parameters: readonly {
      readonly name: string;
      readonly about: string;
      readonly value: unknown;
    }[];
  }[];
}

/** An approval with its moves. */
export interface ApprovalDetails extends Approval {
  readonly instead_of: string | null;
  readonly offered: string | null;
  readonly moves: readonly {
    readonly at: string;
    readonly move: string;
    readonly principal: string | null;
    readonly reason: string | null;
    readonly receipt_id: string;
  }[];
  readonly act: {
    readonly state: string;
    readonly error: { readonly message: string } | null;
  } | null;
}

/** A ticket. */
export interface Ticket {
  readonly ticket_id: string;
  readonly title: string;
  readonly description: string;
  readonly category: string | null;
  readonly severity: "critical" | "high" | "medium" | "low";
  readonly status: "open" | "resolved";
  readonly phase: string;
  readonly escalated: boolean;
  readonly service: string | null;
  readonly workflow_id: string | null;
  readonly resolution: string | null;
  readonly receipt_id: string | null;
  readonly approval_id: string | null;
  readonly acknowledged_by?: string | null;
  readonly taken_by?: string | null;
  readonly opened_at: string;
  readonly resolved_at: string | null;
}

/** A ticket with the draft of its postmortem. */
export interface TicketDetails extends Ticket {
  readonly postmortem: string | null;
}

/** A stop that is in force. */
export interface Stop {
  readonly kind: "all" | "key" | "tool";
  readonly name: string;
  readonly reason: string;
  readonly by: "operator" | "flag" | "file";
  readonly stopped_at: string;
}

/** A settings file that was refused. */
export interface RefusedFile {
  readonly file: string;
  readonly line: number | null;
  readonly wrong: string;
  readonly meanwhile: string;
  readonly refused_since: string;
}

/** A file of a worker that differs from what is in force. */
export interface ConfigDrift {
  readonly code: "config_drift";
  readonly name: string;
  /** Its id; null: it has none. */
  readonly place: string | null;
  readonly version: number;
  readonly since: string;
  readonly advice: string;
}

/** The platform's parts. */
export interface PlatformStatus {
  readonly status: "ok" | "degraded";
  readonly backends: Readonly<
    Record<string, {
      readonly ok: boolean;
      readonly error: string | null;
      readonly detail: {
        readonly refused?: readonly RefusedFile[];
        readonly drift?: readonly ConfigDrift[];
      } | null;
    }>
  >;
}

/** A statement that a session is given to sign. */
export interface Proposal {
  readonly challenge_id: string;
  readonly challenge: string;
  readonly statement: { readonly cycle: number; readonly nonce: string };
  readonly rp_id: string;
  readonly credentials: readonly string[];
}

/** A statement about a call that its person's passkey is given to sign. */
export interface CallProposal extends Omit<Proposal, "statement"> {
  readonly statement: { readonly act: string; readonly nonce: string };
  readonly shown: ShownCall;
}

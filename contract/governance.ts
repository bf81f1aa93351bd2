import { z } from "zod";
import { type Decision, DECISIONS } from "./domain/mod.ts";
import type { Problem } from "./errors.ts";
import type { Access, Effect } from "./operation.ts";
import { ApprovalGrounds, groundsOf } from "./records/mod.ts";
import type { RequiredApproval } from "./required_approval.ts";

/** Grounds of the approval of a call, besides rule and reasons, which the answer has by itself. */
const FurtherGrounds = ApprovalGrounds.omit({ rule: true, reasons: true }).extend({
  reaches: z.array(z.string()).describe("Services that the call reaches"),
  evidence: z.array(z.object({ kind: z.string(), id: z.string() })),
});

/**
 * The answer in place of an operation's output where the call was not run: people are asked first (status 202 over
 * REST), or it was a dry run (200).
 */
export const GovernanceAnswerSchema = z.object({
  governance: z.object({
    decision: z.enum(DECISIONS),
    dry_run: z.boolean().describe(
      "True: a dry run, so nothing is run whatever is decided",
    ),
    decision_id: z.string().describe("As in GET /v1/governance/decisions"),
    rule: z.string().describe("Rule of the policy that decided"),
    reasons: z.array(z.string()),
    policy_version: z.string(),
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()).describe(
      "As validated; exactly these would be run",
    ),
    approval_id: z.string().nullable().describe("The approval that people decide on; null: none"),
    status: z.enum(["pending", "approved"]).nullable().describe("Status of the approval"),
    approval: z.object({
      description: z.string().describe("What is asked for, in words"),
      ...FurtherGrounds.shape,
      expires_at: z.string().describe("When the approval expires"),
      decide: z.string().describe("How a person decides"),
    }).nullable().describe("What people are told besides the reasons; null: nobody is asked"),
    next: z.string().describe("What to do next"),
  }),
}).meta({ id: "Governed" });

/** A value of {@linkcode GovernanceAnswerSchema}. */
export type GovernanceAnswer = z.output<typeof GovernanceAnswerSchema>;

/** Example for the descriptions. */
export const governanceAnswerExample: GovernanceAnswer = {
  governance: {
    decision: "needs_approval",
    dry_run: false,
    decision_id: "GOV-5b1e09c77a42",
    rule: "acts-on-the-outside",
    reasons: ["It acts on the outside, or changes what the platform does by itself"],
    policy_version: "0-2f1c5d0b9a7e",
    tool: "rmm_run_script",
    arguments: { agent_id: "a-17", script_id: "clear-spool" },
    approval_id: "APR-9c3f20d71b86",
    status: "pending",
    approval: {
      description: "Run a script on a managed machine",
      ...FurtherGrounds.parse(
        groundsOf({ evidence: [{ kind: "decision", id: "GOV-5b1e09c77a42" }] }),
      ),
      expires_at: "2026-07-04T12:00:00.000Z",
      decide:
        "npm run approvals -- approve APR-9c3f20d71b86 (or deny) on the platform's machine, or " +
        "POST /v1/approvals/APR-9c3f20d71b86/approve (or /deny) with a key that may approve",
    },
    next: "Wait for a person, then call again with the same arguments for the result.",
  },
};

/** Example of the answer to a dry run. */
export const dryRunAnswerExample: GovernanceAnswer = {
  governance: {
    ...governanceAnswerExample.governance,
    dry_run: true,
    approval_id: null,
    status: null,
    approval: null,
    next: "Call without the dry run to have people asked.",
  },
};

/** Header of an answer that repeats the outcome of an earlier call: when that call ended, ISO 8601. */
export const EARLIER_HEADER = "x-earlier";

/** A decision about one call, before it runs. */
export interface GovernanceDecision {
  /** `GOV-` and 12 hex characters. */
  readonly id: string;
  readonly decision: Decision;
  /** The rule that decided. */
  readonly rule: string;
  readonly policyVersion: string;
  readonly dryRun: boolean;
  /** The approval that the call waits for, or that allowed it. */
  readonly approvalId?: string;
  /** The use of the standing grant that allowed it. */
  readonly grant?: { readonly grant: string; readonly use: number };
  /** Set where the answer is the outcome of an earlier, approved call: when that ended, ISO 8601. */
  readonly earlier?: string;
  /** Id that the call's receipt must have. Absent: it gets an id of its own. */
  readonly callReceiptId?: string;
  /** Set where the operation itself has people asked. */
  readonly required?: RequiredApproval;
  /** True where the call is one of the approvals that its rule asks for. */
  readonly callerApproves?: boolean;
  /** Thrown instead of running the call. */
  readonly problem?: Problem;
  /** Returned instead of running the call. */
  readonly answer?: {
    /** `earlier`: the output of an approved call with the same arguments. */
    readonly kind: "held" | "dry_run" | "earlier";
    readonly output: unknown;
  };
}

/** Returns true where governance decides about an operation's authenticated calls. A device's key decides about its own. */
export function isGoverned(
  { effect, access }: { readonly effect: Effect; readonly access?: Access },
): boolean {
  return effect !== "read" && access !== "device";
}

/** Returns true where a call can be a dry run: governance decides about it, and it is made with a key. */
export function hasDryRun(
  operation: { readonly effect: Effect; readonly access: Access },
): boolean {
  return isGoverned(operation) && operation.access !== "token";
}

import { z } from "zod";
import { type Decision, DECISIONS } from "../domain/mod.ts";
import type { Problem } from "./errors.ts";
import type { Effect } from "./operation.ts";

/**
 * What is given in place of an operation's own output where nothing was run: people are asked first, or it was a dry
 * run. Over REST with status 202 and 200.
 */
export const GovernanceAnswerSchema = z.object({
  governance: z.object({
    decision: z.enum(DECISIONS),
    dry_run: z.boolean().describe(
      "True: this was only asked, and nothing is run whatever is decided",
    ),
    decision_id: z.string().describe("As in GET /v1/governance/decisions"),
    rule: z.string().describe("Rule of the policy that decided"),
    reasons: z.array(z.string()),
    policy_version: z.string(),
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()).describe("As checked; exactly these would be run"),
    approval_id: z.string().nullable().describe("What people are asked; null: nobody is asked"),
    status: z.enum(["pending", "approved"]).nullable().describe("Where that stands"),
    next: z.string().describe("What to do next"),
  }),
}).meta({ id: "Governed" });

/** What {@linkcode GovernanceAnswerSchema} describes. */
export type GovernanceAnswer = z.output<typeof GovernanceAnswerSchema>;

/** One such answer. */
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
    next: "Wait for a person, then call again with the same arguments for the result.",
  },
};

/** Header that says when a call ended whose end is given in place of running it again; ISO 8601. */
export const EARLIER_HEADER = "x-earlier";

/** What governance says of a call before it runs. */
export interface GovernanceDecision {
  /** `GOV-` and 12 hex characters. */
  readonly id: string;
  readonly decision: Decision;
  /** The rule that decided. */
  readonly rule: string;
  readonly policyVersion: string;
  readonly dryRun: boolean;
  /** What people are asked, or have approved. */
  readonly approvalId?: string;
  /** When it ended, where what is given is what became of it before: nothing is run now. ISO 8601. */
  readonly earlier?: string;
  /** Id that the call's receipt has; absent: any. */
  readonly callReceiptId?: string;
  /** Thrown in place of running it. */
  readonly problem?: Problem;
  /** Given in place of running it. */
  readonly answer?: {
    /** `earlier`: what an approved call of the same arguments gave. */
    readonly kind: "held" | "dry_run" | "earlier";
    readonly output: unknown;
  };
}

/** Whether governance decides on an operation's calls, where a key is behind them. */
export function isGoverned({ effect }: { readonly effect: Effect }): boolean {
  return effect !== "read";
}

import { type GovernanceAnswer, type GovernanceDecision, Problem } from "../../contract/mod.ts";
import type { Decision } from "../../contract/domain/mod.ts";
import type { CheckedCall } from "../run.ts";
import type { RecordedEvaluation } from "./decision_record.ts";

/** Returns the decision about a call that no person is asked about. */
export function decisionOf(call: CheckedCall, evaluation: RecordedEvaluation): GovernanceDecision {
  const base = baseOf(evaluation);
  if (evaluation.dryRun) {
    const next = NEXT_AFTER_DRY_RUN[evaluation.decision];
    return { ...base, answer: { kind: "dry_run", output: governedOutput(call, evaluation, next) } };
  }
  if (evaluation.decision !== "deny") return base;
  const problem = evaluation.problem ??
    new Problem("Denied", `Governance refuses this call: ${evaluation.reasons.join("; ")}`);
  return { ...base, problem: withDecision(problem, evaluation) };
}

/** The parts of an evaluation that the caller is told. */
export type AnsweredEvaluation = Pick<
  RecordedEvaluation,
  "id" | "decision" | "rule" | "reasons" | "policyVersion" | "dryRun" | "callReceiptId" | "grant"
>;

/** Returns the fields that every decision has. */
export function baseOf(evaluation: AnsweredEvaluation): GovernanceDecision {
  const { id, decision, rule, policyVersion, dryRun, callReceiptId, grant } = evaluation;
  return { id, decision, rule, policyVersion, dryRun, callReceiptId, ...(grant ? { grant } : {}) };
}

/** Adds to a problem the decision by which the call ended so. */
export function withDecision(
  problem: Problem,
  { id, decision, rule }: Pick<RecordedEvaluation, "id" | "decision" | "rule">,
): Problem {
  problem.governance = { id, decision, rule };
  return problem;
}

/** An approval in the answer to the call that waits for it. */
export interface AnsweredApproval {
  readonly id: string;
  readonly status: "pending" | "approved";
  readonly notice: GovernanceAnswer["governance"]["approval"];
}

/** Returns the answer that is given in place of the operation's output. @param next what the caller should do */
export function governedOutput(
  { request, input }: Pick<CheckedCall, "request" | "input">,
  { id, decision, rule, reasons, policyVersion, dryRun }: AnsweredEvaluation,
  next: string,
  approval?: AnsweredApproval,
): GovernanceAnswer {
  return {
    governance: {
      decision,
      dry_run: dryRun,
      decision_id: id,
      rule,
      reasons: [...reasons],
      policy_version: policyVersion,
      tool: request.as,
      arguments: input,
      approval_id: approval?.id ?? null,
      status: approval?.status ?? null,
      approval: approval?.notice ?? null,
      next,
    },
  };
}

const NEXT_AFTER_DRY_RUN: Readonly<Record<Decision, string>> = {
  allow: "Call without the dry run to have it done.",
  needs_approval: "Call without the dry run to have people asked.",
  deny: "Do not call: it would be refused for these reasons.",
};

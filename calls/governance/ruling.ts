/** What governance says of a call, to those who run it and to the caller. */
import { type GovernanceAnswer, Problem, type GovernanceDecision } from "../../contract/mod.ts";
import type { GovernedCall } from "../invoke.ts";
import type { Decision } from "../../domain/mod.ts";
import type { Found } from "../approvals/desk.ts";
import type { Verdict } from "./verdict.ts";

/** A verdict with its place on record. */
export interface Recorded extends Verdict {
  readonly id: string;
  readonly receiptId: string;
  readonly callReceiptId: string | undefined;
  readonly policyVersion: string;
  readonly dryRun: boolean;
}

/** What becomes of a call. @param found where people were asked, what came of that */
export function rulingOf<C>(call: GovernedCall<C>, ruling: Recorded, found?: Found): GovernanceDecision {
  const { id, decision, rule, policyVersion, dryRun, callReceiptId } = ruling;
  const about = { id, decision, rule, policyVersion, dryRun, callReceiptId };
  if (found) {
    const { approvalId, output, problem, status, earlier } = found;
    if (problem) return { ...about, approvalId, problem: knowing(problem, ruling) };
    if (output) return { ...about, approvalId, earlier, answer: { kind: "earlier", output } };
    const input = found.input ?? call.input;
    const told = toldOf({ ...call, input }, ruling, approvalId, status);
    return { ...about, approvalId, answer: { kind: "held", output: told } };
  }
  if (dryRun) return { ...about, answer: { kind: "dry_run", output: toldOf(call, ruling) } };
  if (decision !== "deny") return about;
  const problem = ruling.problem ??
    new Problem("Denied", `Governance refuses this call: ${ruling.reasons.join("; ")}`);
  return { ...about, problem: knowing(problem, ruling) };
}

/** The same problem, which knows by what decision the call ended so. */
function knowing(problem: Problem, { id, decision, rule }: Recorded): Problem {
  problem.governance = { id, decision, rule };
  return problem;
}

function toldOf<C>(
  { request, input }: GovernedCall<C>,
  { id, decision, rule, reasons, policyVersion, dryRun }: Recorded,
  approvalId?: string,
  status: "pending" | "approved" = "pending",
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
      approval_id: approvalId ?? null,
      status: approvalId ? status : null,
      next: dryRun ? NEXT[decision] : AFTERWARDS[status](approvalId!),
    },
  };
}

const NEXT: Readonly<Record<Decision, string>> = {
  allow: "Call without the dry run to have it done.",
  needs_approval: "Call without the dry run to have people asked.",
  deny: "Do not call: it would be refused for these reasons.",
};

const AFTERWARDS = {
  pending: (approvalId: string) =>
    `Nothing was done yet: a person decides about ${approvalId}. Then exactly these arguments are run, once. ` +
    resultOf(approvalId),
  approved: (approvalId: string) =>
    `${approvalId} is approved, and exactly these arguments are run now, once. ${
      resultOf(approvalId)
    }`,
} as const;

const resultOf = (approvalId: string) =>
  "For the result call again with the same arguments, or read " +
  `GET /v1/approvals/${approvalId}/info on the gateway.`;

/** Answers to calls that wait for people, or have waited. */
import {
  EARLIER_HEADER,
  escapeInvisible,
  type GovernanceDecision,
  JsonText,
  Problem,
} from "../../contract/mod.ts";
import { type ErrorName, ERRORS } from "../../contract/domain/mod.ts";
import type { ApprovalRecord, HeldCall } from "../../store/approvals/mod.ts";
import {
  type AnsweredEvaluation,
  baseOf,
  governedOutput,
  type RecordedEvaluation,
  withDecision,
} from "../governance/mod.ts";
import type { CheckedCall } from "../run.ts";
import { noticeOf } from "./notice.ts";

/** Returns the decision that gives the end of a held call. */
export function endDecision(
  evaluation: AnsweredEvaluation,
  approvalId: string,
  { problem, earlier, output }: HeldResult & { readonly ended: true },
): GovernanceDecision {
  if (problem) return { ...denied(evaluation, problem), approvalId };
  return { ...baseOf(evaluation), approvalId, earlier, answer: { kind: "earlier", output } };
}

type Override = Pick<RecordedEvaluation, "decision" | "rule" | "reasons">;
/** State of a held call, for its caller. */
type HeldResult =
  | {
    readonly ended: false;
    readonly status: "pending" | "approved";
    readonly override?: undefined;
  }
  | {
    readonly ended: true;
    readonly override: Override;
    /** ISO 8601. */
    readonly earlier?: string | undefined;
    readonly output?: JsonText;
    readonly problem?: Problem;
  };

/** Returns how a held call stands, by its state and that of its approval. */
export function resultOf(held: HeldCall, approval: string): HeldResult {
  const { approvalId, state, output, error } = held;
  const earlier = held.endedAt?.toISOString();
  if (state === "done") {
    const reasons = [`${approvalId} was approved, and this is its result`];
    const override = { decision: "allow", rule: "approved", reasons } as const;
    return { ended: true, override, earlier, output: new JsonText(output!) };
  }
  if (error) {
    const name = Object.hasOwn(ERRORS, error.name) ? error.name as ErrorName : "Internal";
    const reasons = [`${approvalId} was approved, and ended as ${state}`];
    const override = { decision: "allow", rule: "approved", reasons } as const;
    const extra = earlier === undefined ? {} : { headers: { [EARLIER_HEADER]: earlier } };
    return { ended: true, override, problem: new Problem(name, error.message, extra) };
  }
  if (approval === "denied" || approval === "expired") {
    const why = approval === "denied" ? "a person has denied it" : "nobody decided in time";
    const reasons = [`${approvalId}: ${why}`];
    const override = { decision: "deny", rule: "people", reasons } as const;
    const message = `Governance refuses this call: ${why} (${approvalId})`;
    return { ended: true, override, problem: new Problem("Denied", message) };
  }
  return { ended: false, status: approval === "approved" ? "approved" : "pending" };
}

/** Returns the decision that refuses a call. */
export function denied(evaluation: AnsweredEvaluation, problem: Problem): GovernanceDecision {
  return { ...baseOf(evaluation), problem: withDecision(problem, evaluation) };
}

/** An approval that a call waits for. `collected`: the call was run, and its caller was given the result. */
export interface HeldApproval {
  readonly id: string;
  readonly status: "pending" | "approved" | "collected";
}

/** Returns the decision that tells a caller how a call that waits for people stands. */
export function heldDecision(
  meant: CheckedCall,
  evaluation: AnsweredEvaluation,
  approval: HeldApproval,
  record: ApprovalRecord | undefined,
): GovernanceDecision {
  const status = approval.status === "pending" ? "pending" : "approved";
  const told = {
    id: approval.id,
    status,
    notice: record ? noticeForCaller(record) : null,
  } as const;
  const output = governedOutput(meant, evaluation, nextStep(approval), told);
  return { ...baseOf(evaluation), approvalId: approval.id, answer: { kind: "held", output } };
}

/** Returns what people are told, for the caller; rule and reasons are in the answer already. */
function noticeForCaller(record: ApprovalRecord) {
  const { rule: _rule, reasons: _reasons, decide, ...grounds } = noticeOf(record);
  const description = escapeInvisible(record.description);
  return { description, ...grounds, expires_at: record.expiresAt, decide };
}

function nextStep({ id, status }: HeldApproval): string {
  if (status === "collected") {
    return `It was run, once, and you were given its result. GET /v1/approvals/${id}/info on the gateway tells it.`;
  }
  const forResult = "For the result call again with the same arguments, or read " +
    `GET /v1/approvals/${id}/info on the gateway.`;
  return status === "pending"
    ? `Nothing was done yet: a person decides about ${id}. Then exactly these arguments are run, once. ${forResult}`
    : `${id} is approved, and exactly these arguments are run now, once. ${forResult}`;
}

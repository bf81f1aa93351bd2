import { Problem } from "../../contract/mod.ts";
import { randomHex } from "../../ledger/mod.ts";
import { governanceInForce } from "../../store/calls/mod.ts";
import {
  evaluate,
  openPolicyCache,
  putOnRecord,
  type RecordedEvaluation,
} from "../governance/mod.ts";
import type { Platform } from "../platform.ts";
import type { CheckedCall } from "../run.ts";
import { holdCall } from "./queue.ts";

/**
 * Has people asked about a call that its caller offers instead of what they deny. As many others must approve as the rule for it
 * wants people, one at least: who offers is never one of them.
 *
 * @returns id of the new approval; the same offer again joins it
 * @throws {Problem} `Denied`: a rule, a stop or the guardrails refuse such a call, or too many wait already
 */
export async function offerCall(
  platform: Platform,
  call: CheckedCall,
  insteadOf: string,
): Promise<string> {
  const { db } = platform.store;
  const { version, stops } = await governanceInForce(db);
  const { policy, name } = await openPolicyCache(db)(version);
  const evaluation = await evaluate(platform, call, stops, policy.rules);
  const { decision, approvers, callerApproves } = evaluation;
  const record = (recorded: RecordedEvaluation) =>
    putOnRecord(db, [{ call, evaluation: recorded, runs: false }]);
  const recorded: RecordedEvaluation = {
    ...evaluation,
    decision: decision === "deny" ? decision : "needs_approval",
    approvers: decision === "needs_approval" && callerApproves ? approvers + 1 : approvers,
    callerApproves: false,
    id: `GOV-${randomHex(12)}`,
    receiptId: randomHex(16),
    callReceiptId: randomHex(16),
    policyVersion: name,
    dryRun: false,
  };
  if (decision === "deny") {
    await record(recorded);
    throw evaluation.problem ??
      new Problem("Denied", `Governance refuses what you offer: ${evaluation.reasons.join("; ")}`);
  }
  const max = policy.max_waiting_per_key;
  const { approvalId, problem } = await holdCall(platform, call, recorded, max, record, insteadOf);
  if (problem || approvalId === undefined) throw problem;
  return approvalId;
}

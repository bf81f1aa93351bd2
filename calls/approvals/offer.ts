import { Problem } from "../../contract/mod.ts";
import { randomHex } from "../../ledger/mod.ts";
import { governanceInForce } from "../../store/calls/mod.ts";
import type { ApprovalSubject } from "../approval_subject.ts";
import {
  evaluate,
  openPolicyCache,
  putOnRecord,
  type RecordedEvaluation,
} from "../governance/mod.ts";
import type { Platform } from "../platform.ts";
import type { CheckedCall } from "../run.ts";
import { groundsOfCall, whyInstead } from "./grounds.ts";
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
  const { recorded, maxWaiting } = await decideOffer(platform, call);
  const record = (evaluation: RecordedEvaluation) =>
    putOnRecord(platform.store.db, [{ call, evaluation, runs: false }]);
  const { approvalId, problem } = await holdCall(
    platform,
    call,
    recorded,
    maxWaiting,
    record,
    insteadOf,
  );
  if (problem || approvalId === undefined) throw problem;
  return approvalId;
}

/**
 * Has people asked about what such a call would make, such as a command of a device, by an approval of its own. Otherwise as
 * {@linkcode offerCall}.
 *
 * @param offer of the subject that the denied approval is about
 */
export async function offerSubject(
  platform: Platform,
  call: CheckedCall,
  insteadOf: string,
  offer: NonNullable<ApprovalSubject<Platform>["offer"]>,
): Promise<string> {
  const { db } = platform.store;
  const { recorded } = await decideOffer(platform, call);
  await putOnRecord(db, [{ call, evaluation: recorded, runs: false }]);
  const reasons = [whyInstead(insteadOf), ...recorded.reasons];
  return await offer(platform, {
    input: call.input,
    insteadOf,
    decisionId: recorded.id,
    needed: recorded.approvers,
    grounds: await groundsOfCall(db, call, { ...recorded, reasons }),
    askedBy: call.caller.principal,
    askedByKey: call.caller.keyId,
  });
}

/** Decides that others are asked about a call. @throws {Problem} `Denied`, which is on record then */
async function decideOffer(
  platform: Platform,
  call: CheckedCall,
): Promise<{ readonly recorded: RecordedEvaluation; readonly maxWaiting: number }> {
  const { db } = platform.store;
  const { version, stops } = await governanceInForce(db);
  const { policy, name } = await openPolicyCache(db)(version);
  const evaluation = await evaluate(platform, call, stops, policy.rules);
  const { decision, approvers, callerApproves } = evaluation;
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
  if (decision !== "deny") return { recorded, maxWaiting: policy.max_waiting_per_key };
  await putOnRecord(db, [{ call, evaluation: recorded, runs: false }]);
  throw evaluation.problem ??
    new Problem("Denied", `Governance refuses what you offer: ${evaluation.reasons.join("; ")}`);
}

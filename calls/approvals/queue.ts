/** The approval queue: calls that wait for people. */
import { randomBytes } from "node:crypto";
import { type GovernanceDecision, Problem } from "../../contract/mod.ts";
import {
  collectHeldCall,
  countWaitingCalls,
  findHeldCall,
  findHeldCallLike,
  getApproval,
  getHeldCall,
  type HeldCall,
  putHeldCall,
} from "../../store/approvals/mod.ts";
import { getDecision } from "../../store/calls/mod.ts";
import { asJson, putOnRecord, type RecordedEvaluation } from "../governance/mod.ts";
import type { Platform } from "../platform.ts";
import { type CheckedCall, checkRunnable } from "../run.ts";
import { actionOf, bindAction, sha256 } from "./action.ts";
import { openApproval } from "./ask.ts";
import { groundsOfCall, whyInstead } from "./grounds.ts";
import { denied, endDecision, type HeldApproval, heldDecision, resultOf } from "./_held_answers.ts";

/** Most bytes of an action: a person has to read it. */
const MAX_ACTION_BYTES = 64 * 1024;

type Parts = Pick<Platform, "store" | "temporal" | "config">;

/**
 * Has people asked about a call. The same call of the same key joins the one that waits, or gets the result of the one
 * that was approved.
 *
 * @param maxWaiting most calls of a key that may wait at a time
 * @param recordRefusal puts a refusal on record
 * @param insteadOf approval that the caller denies, and offers this instead of
 * @throws {Problem} nobody can be asked, or the call could not be run; then nothing is kept
 */
export async function holdCall(
  platform: Platform,
  call: CheckedCall,
  evaluation: RecordedEvaluation,
  maxWaiting: number,
  recordRefusal: (evaluation: RecordedEvaluation) => Promise<void>,
  insteadOf: string | null = null,
): Promise<GovernanceDecision> {
  const db = platform.store.db;
  const refuse = async (why: string) => {
    const refused = {
      ...evaluation,
      decision: "deny",
      rule: "approval-queue",
      reasons: [why],
    } as const;
    await recordRefusal(refused);
    return denied(refused, new Problem("Denied", `Governance refuses this call: ${why}`));
  };

  const keyId = call.caller.keyId!;
  const known = await findSameCall(platform, call);
  if (known) return await joinCall(platform, call, evaluation, known);
  await checkRunnable(platform, call);
  const stable = await call.operation.governance?.resolveStableInput?.(call.input, platform);
  const meant = stable ? { ...call, input: { ...stable.input } } : call;
  const { action, text, group } = actionOf(meant);
  if (Buffer.byteLength(text) > MAX_ACTION_BYTES) {
    return await refuse("It is too large for a person to read");
  }
  if (await countWaitingCalls(db, keyId) >= maxWaiting) {
    return await refuse(`${maxWaiting} calls of this key wait for people already`);
  }
  const { operation, request, caller } = call;
  const bound = bindAction(action, text, group);
  const approvalId = `APR-${randomBytes(6).toString("hex")}`;
  const about = stable ? `: ${stable.about}` : "";
  const reasons = [...insteadOf ? [whyInstead(insteadOf)] : [], ...evaluation.reasons];
  const grounds = await groundsOfCall(db, meant, { ...evaluation, reasons });
  const { settings } = platform.config;
  try {
    await openApproval(platform, {
      id: approvalId,
      subject: `tool:${request.as}`,
      ticketId: null,
      description: `${operation.summary}${about}`,
      ...bound,
      grounds,
      requestedBy: caller.principal,
      requestedByKey: keyId,
      needed: evaluation.approvers,
      expiresInSeconds: settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
      escalateAfterSeconds: settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
      askingRun: null,
      insteadOf,
    }, async (trx) => {
      const isFirst = await putHeldCall(trx, {
        approvalId,
        decisionId: evaluation.id,
        door: request.door,
        tool: request.as,
        operation: operation.name,
        input: JSON.stringify(stable?.input ?? request.input ?? {}),
        actionSha256: bound.actionSha256,
        keyId,
        address: caller.address,
      });
      if (!isFirst) throw new AlreadyHeld();
      await putOnRecord(trx, [{ call, evaluation, runs: false, approvalId }]);
    });
  } catch (error) {
    const first = error instanceof AlreadyHeld && await findHeldCall(db, keyId, bound.actionSha256);
    if (first) return await joinCall(platform, call, evaluation, first);
    throw error;
  }
  const asked = await getApproval(db, approvalId);
  return heldDecision(meant, evaluation, { id: approvalId, status: "pending" }, asked);
}

/** Two of the same call at once: the other one was first. */
class AlreadyHeld extends Error {
  override readonly name = "AlreadyHeld";
}

/** Finds the same call of the same key that is open; where its meaning moves, by its words and not by their meaning now. */
export async function findSameCall(
  { store }: Parts,
  call: CheckedCall,
): Promise<HeldCall | undefined> {
  const db = store.db;
  const { operation, request, input } = call;
  const keyId = call.caller.keyId!;
  const same = await findHeldCall(db, keyId, sha256(actionOf(call).text));
  if (same || !operation.governance?.resolveStableInput) return same;
  return await findHeldCallLike(db, keyId, request.as, JSON.stringify(asJson(input)));
}

/** Tells how the same call stands, and hands over its result, once. */
async function joinCall(
  { store }: Parts,
  call: CheckedCall,
  evaluation: RecordedEvaluation,
  { approvalId, input }: HeldCall,
): Promise<GovernanceDecision> {
  const meant = call.operation.governance?.resolveStableInput
    ? { ...call, input: JSON.parse(input) }
    : call;
  return await store.db.transaction(async (trx) => {
    const held = await getHeldCall(trx, approvalId);
    const approval = await getApproval(trx, approvalId);
    let result = held && approval ? resultOf(held, approval.status) : undefined;
    if (held && result?.ended && !await collectHeldCall(trx, held)) result = undefined;
    const recorded: RecordedEvaluation = { ...evaluation, ...result?.override };
    await putOnRecord(trx, [{ call, evaluation: recorded, runs: false, approvalId }]);
    if (result?.ended) return endDecision(recorded, approvalId, result);
    const status = result?.status ?? "pending";
    return heldDecision(meant, recorded, { id: approvalId, status }, approval);
  });
}

/**
 * Tells how a held call stands that is repeated by its idempotency key, and hands over its result, once. Its decision
 * stays the first one.
 */
export async function repeatHeldCall(
  { store }: Pick<Parts, "store">,
  call: CheckedCall,
  approvalId: string,
): Promise<GovernanceDecision> {
  return await store.db.transaction(async (trx) => {
    const held = await getHeldCall(trx, approvalId);
    const approval = await getApproval(trx, approvalId);
    const decision = held && await getDecision(trx, held.decisionId);
    if (!held || !approval || !decision) {
      throw new Problem("NotFound", `There is no call that ${approvalId} allows`);
    }
    const meant = call.operation.governance?.resolveStableInput
      ? { ...call, input: JSON.parse(held.input) }
      : call;
    const first = {
      ...decision,
      id: held.decisionId,
      decision: "needs_approval",
      dryRun: false,
      callReceiptId: undefined,
    } as const;
    const result = resultOf(held, approval.status);
    const answer = (status: HeldApproval["status"]) =>
      heldDecision(meant, first, { id: approvalId, status }, approval);
    if (!result.ended) return answer(result.status);
    const isCollectedNow = await collectHeldCall(trx, held);
    if (isCollectedNow || result.problem) {
      return endDecision({ ...first, ...result.override }, approvalId, result);
    }
    return answer("collected");
  });
}

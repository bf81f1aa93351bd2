import { type GovernanceDecision, isGoverned, Problem } from "../contract/mod.ts";
import { randomHex } from "../ledger/mod.ts";
import { batch, type Holder } from "../store/mod.ts";
import { governanceInForce } from "../store/calls/mod.ts";
import {
  actionOf,
  asSigner,
  findSameCall,
  holdCall,
  sha256,
  takeCallStatement,
} from "./approvals/mod.ts";
import {
  decisionOf,
  evaluate,
  openDecisionRecorder,
  openPolicyCache,
  putOnRecord,
  type RecordedEvaluation,
} from "./governance/mod.ts";
import { useGrant } from "./grants/mod.ts";
import type { Platform } from "./platform.ts";
import type { CheckedCall } from "./run.ts";

/**
 * Returns the function that decides about calls that change something, and puts each decision on record, as a row and a
 * receipt, before anything is run. Where a rule says so, people are asked; a person who has signed in is asked for their passkey.
 *
 * Policy and stops are read for every call: what is set holds from the next call on, in every process.
 *
 * @param holder lock by which this process shows that it lives
 * @returns per call, with the parts in the name of its caller's tenant, its decision; undefined: there is nothing to decide
 * @throws {Problem} nothing may be run, as no decision could be made or put on record; `PasskeyNeeded`
 */
export function openGovernor(
  platform: Platform,
  holder: Holder,
): (parts: Platform, call: CheckedCall) => Promise<GovernanceDecision | undefined> {
  const { store } = platform;
  const db = store.asPlatform(); // policy and stops are nobody's, and decisions say whose they are
  const readInForce = batch(async (calls: void[]) => {
    const inForce = await governanceInForce(db);
    return calls.map(() => inForce);
  });
  const policyOf = openPolicyCache(db);
  const recordDecision = openDecisionRecorder(db);

  return async (parts, call) => {
    if (!isGoverned(call.operation)) {
      if (call.operation.effect !== "read") refuseDryRun(call); // a device's
      return undefined;
    }
    if (call.caller.keyId === null) {
      refuseDryRun(call);
      return undefined; // rules and stops are about keys
    }
    const { version, stops } = await readInForce();
    const { policy, name: policyVersion } = await policyOf(version);
    const dryRun = call.request.dryRun === true;
    const evaluation = await evaluate(parts, await asSigner(parts, call), stops, policy.rules);
    const signs = evaluation.callerApproves && call.caller.session && !dryRun;
    const recorded: RecordedEvaluation = {
      ...evaluation,
      ...(signs ? { signed: await takeCallStatement(parts, call, evaluation) } : {}),
      id: `GOV-${randomHex(12)}`,
      receiptId: randomHex(16),
      callReceiptId: dryRun || sealsEnd(call) || evaluation.decision !== "allow"
        ? randomHex(16)
        : undefined,
      policyVersion,
      dryRun,
    };
    const asksPeople = call.operation.governance?.asksPeople === true &&
      recorded.decision === "needs_approval";
    if (!dryRun && recorded.decision === "needs_approval" && !asksPeople) {
      const granted = await allowByGrant(parts, call, recorded, holder);
      if (granted) return decisionOf(call, granted);
      const recordRefusal = (refused: RecordedEvaluation) =>
        recordDecision({ call, evaluation: refused, runs: false });
      return await holdCall(parts, call, recorded, policy.max_waiting_per_key, recordRefusal);
    }
    const runs = (recorded.decision === "allow" || asksPeople) && !dryRun;
    const entry = { call, evaluation: recorded, runs };
    await recordDecision(runs ? { ...entry, holder: await holder.number() } : entry);
    const { approvers: needed, callerApproves, rule, reasons, receiptId, passkey } = recorded;
    const decision = { ...decisionOf(call, recorded), callerApproves };
    if (!asksPeople) return decision;
    return { ...decision, required: { needed, rule, reasons, receiptId, passkey } };
  };
}

/**
 * Allows a call that a rule alone leaves to people, where a standing grant is about exactly that: the use is counted in the
 * transaction that puts the decision on record. A call that waits for people already goes on waiting.
 *
 * @returns undefined: people are asked
 */
async function allowByGrant(
  parts: Platform,
  call: CheckedCall,
  asked: RecordedEvaluation,
  holder: Holder,
): Promise<RecordedEvaluation | undefined> {
  if (!asked.isGrantable || call.operation.governance?.resolveStableInput) return undefined;
  if (await findSameCall(parts, call)) return undefined;
  const { id, approvers, callReceiptId, reasons } = asked;
  const { action, text } = actionOf(call);
  const actionSha256 = sha256(text);
  const number = await holder.number();
  return await parts.store.db.transaction(async (trx) => {
    const used = await useGrant(parts.store, trx, { actionSha256, approvers, id });
    if (!used) return undefined;
    const { grant, use, max_uses } = used;
    const evaluation: RecordedEvaluation = {
      ...asked,
      decision: "allow",
      rule: grant,
      reasons: [...reasons, `${grant} allows it without asking: use ${use} of ${max_uses}`],
      grant: { grant, use },
      grantedAction: action,
      callReceiptId: sealsEnd(call) ? callReceiptId : undefined,
    };
    await putOnRecord(trx, [{ call, evaluation, runs: true, holder: number }]);
    return evaluation;
  });
}

/** Returns whether the end of the call gets a receipt of its own; over REST some operations seal their change themselves. */
function sealsEnd({ operation, request }: CheckedCall): boolean {
  return request.door !== "rest" || operation.durability?.sealsItself !== true;
}

/** @throws {Problem} `InvalidInput`: without a key there is no decision to ask for, and the call must not be run */
function refuseDryRun({ operation, request }: CheckedCall): void {
  if (!request.dryRun) return;
  const msg = `There is no dry run of ${operation.name} without an API key, as it is keys that ` +
    "governance decides about; nothing was done";
  const detail = [{ loc: ["header", "x-dry-run"], msg, type: "value_error" }];
  throw new Problem("InvalidInput", msg, { body: { detail } });
}

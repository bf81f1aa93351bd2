/** Running calls that people have approved: with exactly the arguments that they saw, once. */
import {
  asProblem,
  type CallRequest,
  type GovernanceDecision,
  isSamePrincipal,
  outputText,
  parseInput,
  Problem,
  type Recovery,
} from "../../contract/mod.ts";
import type { HeldCallResult } from "../../contract/domain/mod.ts";
import { canonicalize, requestSeal } from "../../ledger/mod.ts";
import { type Holder, isHolderGone, ROLES } from "../../store/mod.ts";
import {
  beginHeldCall,
  endHeldCall,
  getApproval,
  getHeldCall,
  type HeldCall,
  type HeldCallEnd,
  intendHeldCall,
} from "../../store/approvals/mod.ts";
import { getDecision, governanceInForce, stopFor } from "../../store/calls/mod.ts";
import { openUnknownCallTicket } from "../../store/incidents/mod.ts";
import { findKeyById } from "../../store/keys/mod.ts";
import { actionOf, sha256 } from "../approvals/mod.ts";
import { approversByRules, openPolicyCache } from "../governance/mod.ts";
import { callerOf } from "../authenticate.ts";
import { namesOf, type Platform } from "../platform.ts";
import { type CallReceipt, callReceipt, requestWithin, sealCall } from "../record.ts";
import { recoverCall } from "../recover/mod.ts";
import { type CheckedCall, runOperation, type StoreEnd } from "../run.ts";
import { endingReceipt, receiptDetails, recoveredEnd, resultOf, retryWhileAway } from "./_end.ts";
import type { RunOrder } from "./order.ts";

/**
 * Returns the function that runs approved calls of one tenant. It is safe to repeat: it finds how far an earlier attempt
 * came, and never begins a call twice.
 *
 * @param holder shows that this process lives
 */
export function createHeldCallRunner(
  platform: Platform,
  holder: Holder,
): (order: RunOrder) => Promise<HeldCallResult> {
  const { db } = platform.store;

  return async (order) => {
    const held = await getHeldCall(db, order.approvalId);
    if (!held) throw new Problem("NotFound", `There is no call that ${order.approvalId} allows`);
    if (held.endedAt) return resultOf(held, held);
    if (held.state === "begun") {
      if (held.holder !== null && !await isHolderGone(db, held.holder)) throw isRunning(held);
      return await endLost(platform, held, order);
    }
    const call = await checkCall(platform, held).catch((error) => {
      if (error instanceof Problem && error.rule.status < 500) return error;
      throw error;
    });
    if (call instanceof Problem) return await endRefused(platform, held, order, call);
    if (held.state === "waiting") await recordIntent(platform, held, order);
    if (!await beginHeldCall(db, held.approvalId, await holder.number())) throw isRunning(held);
    return await runCall(platform, held, order, call);
  };
}

/** Temporal asks again, until the call has ended or its process has. */
function isRunning({ approvalId }: HeldCall): Problem {
  return new Problem("Unavailable", `${approvalId} is being run by another attempt`);
}

/** Checks everything anew: key, arguments, approval, stops. @throws {Problem} why it may not be run after all */
async function checkCall(
  platform: Platform,
  held: HeldCall,
): Promise<CheckedCall> {
  const { store: { db }, operations } = platform;
  const refuse = (why: string) => new Problem("Denied", `${held.approvalId} is not run: ${why}`);
  const operation = operations.get(held.operation);
  if (!operation) throw refuse("the operation does not exist any more");
  const key = await findKeyById(db, held.keyId);
  if (!key || key.expiresAt && key.expiresAt <= new Date()) {
    throw refuse("the key that asked was revoked or has expired");
  }
  const caller = callerOf(key, held.address);
  const request = requestOf(held);
  const input = parseInput(operation.input, request.input);
  const { action, text } = actionOf({ operation, request, caller, input });
  const approval = await getApproval(db, held.approvalId);
  if (approval?.status !== "approved") throw refuse("it is not approved");
  const shown = sha256(canonicalize(approval.action));
  if ([held.actionSha256, approval.actionSha256, shown].some((hash) => hash !== sha256(text))) {
    throw refuse(
      `it is not what was approved, which was ${String(action.tool)} with other arguments`,
    );
  }
  const names = [held.tool, ...namesOf(operation, input)];
  const { stops, version } = await governanceInForce(db);
  const stop = stopFor(stops, { keyId: held.keyId, names });
  if (stop) throw refuse(`such calls are stopped: ${stop.reason}`);
  const call = { operation, request, caller, input };
  // How many had to approve, and who must not, is what the rules and the key say, and not the row of the server that asked.
  const { policy } = await openPolicyCache(db)(version);
  const door = approval.storedBy === ROLES.tools && held.door === "rest" ? "mcp" : held.door;
  const { needed, passkey } = await approversByRules(
    platform,
    { ...call, request: { ...request, door } },
    policy.rules,
  );
  if (passkey && !approval.grounds.passkey) {
    throw refuse("its rule takes passkeys now, and people were asked for none");
  }
  // Where passkeys count alone, the caller's own is on record.
  const own = passkey && (await getDecision(db, held.decisionId))?.callerApproves;
  const wanted = needed - (own ? 1 : 0);
  const others = approval.approvers.filter(({ key_id, principal }) =>
    key_id !== held.keyId && !isSamePrincipal(principal, key.principal)
  );
  if (approval.requestedByKey !== held.keyId || others.length < wanted) {
    throw refuse("it was not approved by as many others as have to");
  }
  return call;
}

function requestOf(held: HeldCall): CallRequest {
  return {
    door: held.door,
    requestId: held.approvalId,
    credential: undefined,
    address: held.address,
    as: held.tool,
    input: JSON.parse(held.input),
    signal: new AbortController().signal,
  };
}

async function recordIntent(
  { store }: Pick<Platform, "store">,
  held: HeldCall,
  { intentReceiptId, run }: RunOrder,
): Promise<void> {
  await store.db.transaction(async (trx) => {
    if (!await intendHeldCall(trx, held.approvalId)) return;
    await requestSeal(trx, {
      id: intentReceiptId,
      category: "governed_act",
      actor: `key:${held.keyId}`,
      subject: held.tool,
      action: "act.intended",
      outcome: "intended",
      details: { ...receiptDetails(held), ...run },
    });
  });
}

async function runCall(
  platform: Platform,
  held: HeldCall,
  order: RunOrder,
  call: CheckedCall,
): Promise<HeldCallResult> {
  const startedMs = performance.now();
  const detached = held.door === "a2a" && call.operation.durability?.longRunning !== undefined;
  const endOf = (outcome: { readonly output?: unknown; readonly error?: Problem }) => {
    const durationMs = performance.now() - startedMs;
    const decision = approvedDecision(held, order);
    const receipt = callReceipt({ ...call, ...outcome, decision, durationMs });
    const { output, error } = outcome;
    const receiptId = order.outcomeReceiptId;
    const end: HeldCallEnd = error
      ? {
        state: "failed",
        output: null,
        error: { name: error.name, message: error.message },
        receiptId,
      }
      : { state: "done", output: outputText(output), error: null, receiptId };
    const details = { ...receipt.details, ...receiptDetails(held), ...order.run };
    return { end, receipt: { ...receipt, category: "governed_act", details } as CallReceipt };
  };
  let committed: HeldCallEnd | undefined;
  const storeEnd: StoreEnd = async (trx, output) => {
    const { end, receipt } = endOf({ output });
    if (!await endHeldCall(trx, held.approvalId, end)) throw isRunning(held);
    await requestWithin(trx, receipt);
    committed = end;
  };
  try {
    const request = { ...call.request, detached };
    const decision = { id: held.decisionId };
    const output = await runOperation(platform, { ...call, request }, decision, storeEnd);
    if (committed) return resultOf(held, committed);
    const { end, receipt } = endOf({ output });
    return await finish(platform, held, end, receipt);
  } catch (thrown) {
    const error = asProblem(thrown);
    if (error.rule.status >= 500) {
      platform.log.error({ approval_id: held.approvalId, err: thrown }, "an approved call failed");
    }
    const { end, receipt } = endOf({ error });
    return await finish(
      platform,
      held,
      end,
      receipt,
      undefined,
      call.operation.durability?.commits,
    );
  }
}

function approvedDecision(held: HeldCall, order: RunOrder): GovernanceDecision {
  return {
    id: held.decisionId,
    decision: "needs_approval",
    rule: "approved",
    policyVersion: "",
    dryRun: false,
    approvalId: held.approvalId,
    callReceiptId: order.outcomeReceiptId,
  };
}

async function endRefused(
  platform: Platform,
  held: HeldCall,
  order: RunOrder,
  { name, message }: Problem,
): Promise<HeldCallResult> {
  const receiptId = order.outcomeReceiptId;
  const error = { name, message };
  const end: HeldCallEnd = { state: "refused", output: null, error, receiptId };
  return await finish(platform, held, end, endingReceipt(held, order, "refused", message));
}

/** Ends a call whose process has ended since it began, by what is found of its effect. */
async function endLost(
  platform: Platform,
  held: HeldCall,
  order: RunOrder,
): Promise<HeldCallResult> {
  const { approvalId, operation, decisionId } = held;
  const since = (await getApproval(platform.store.db, approvalId))?.decidedAt;
  const recovery: Recovery = since
    ? await recoverCall(platform, {
      operation,
      decisionId,
      since: new Date(since),
      awaited: held.door !== "a2a",
      keyId: held.keyId,
      input: JSON.parse(held.input),
    })
    : { state: "unknown" };
  const receiptId = order.outcomeReceiptId;
  const { end, outcome, why, details, look } = recoveredEnd(held, receiptId, recovery);
  const receipt = endingReceipt(held, order, outcome, why);
  return await finish(platform, held, { ...end, receiptId }, {
    ...receipt,
    details: { ...receipt.details, ...details },
  }, look);
}

/**
 * Stores the end and requests its receipt, together. An end that is known already stays, and is corrected in the ledger.
 *
 * @param look where people may look, if the end is unknown
 * @param keepsFirst as in {@linkcode sealCall}
 */
async function finish(
  { store, sealer }: Pick<Platform, "store" | "sealer">,
  held: HeldCall,
  end: HeldCallEnd,
  receipt: CallReceipt,
  look?: string,
  keepsFirst = false,
): Promise<HeldCallResult> {
  const db = store.db;
  const isFirst = await retryWhileAway(() =>
    db.transaction(async (trx) => {
      if (!await endHeldCall(trx, held.approvalId, end)) return false;
      if (end.state === "unknown") {
        await openUnknownCallTicket(trx, { ...held, receiptId: end.receiptId!, look });
      }
      await requestSeal(trx, receipt);
      return true;
    })
  );
  if (isFirst) return resultOf(held, end);
  if (end.state === "done" || end.state === "failed") await sealCall(sealer, receipt, keepsFirst);
  return resultOf(held, (await getHeldCall(db, held.approvalId))!);
}

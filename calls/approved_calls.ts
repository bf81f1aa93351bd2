/** Calls that people have approved: run with exactly what they saw, once. */
import {
  asProblem,
  type Caller,
  type Operation,
  parseInput,
  Problem,
  type CallRequest,
  type GovernanceDecision,
  type Recovery,
} from "../contract/mod.ts";
import type { GovernedActResult, RunId } from "../domain/mod.ts";
import {
  type ActEnd,
  type ActRecord,
  beginAct,
  endAct,
  findKeyById,
  getAct,
  getApproval,
  inForce,
  intendAct,
  isHeld,
  leaveUnknownToPeople,
  openHolder,
  stopsCall,
  } from "../store/mod.ts";
import { actionOf } from "./governance/mod.ts";
import { canonicalize, requestSeal } from "../ledger/mod.ts";
import {
  bareReceipt,
  detailsOf,
  lostEnd,
  resultOf,
  textOf,
  whenThere,
} from "./_approved_call_end.ts";
import { type CallReceipt, callReceipt, sealCall } from "./record.ts";
import { sha256 } from "../operations/_shapes.ts";
import { createTraceCall } from "./recover/traces.ts";
import type { Platform } from "./platform.ts";

/** Which call is to be run, and the receipts of its beginning and its end. */
export interface ActOrder {
  readonly approvalId: string;
  readonly run: RunId;
  readonly intentReceiptId: string;
  readonly outcomeReceiptId: string;
}

/** Runs a call that was approved. Safe to repeat: it finds how far it came, and never begins twice. */
export type RunAct = (order: ActOrder) => Promise<GovernedActResult>;

/** All that is known of a call which may be run. */
interface Ready {
  readonly operation: Operation<Platform>;
  readonly caller: Caller;
  readonly input: Record<string, unknown>;
}

/** Gives what runs approved calls of these operations. */
export function createRunAct(
  platform: Platform,
  operations: readonly Operation<Platform>[],
): RunAct {
  const { store, sealer } = platform;
  const holder = openHolder(store);
  const trace = createTraceCall(platform, operations);
  const byName = new Map(operations.map((operation) => [operation.name, operation]));

  async function run(order: ActOrder): Promise<GovernedActResult> {
    const act = await getAct(store.asPlatform(), order.approvalId);
    if (!act) throw new Problem("NotFound", `There is no call that ${order.approvalId} allows`);
    if (act.endedAt) return resultOf(act, act);
    if (act.state === "begun") {
      if (act.holder !== null && await isHeld(store.asPlatform(), act.holder)) throw goesOn(act);
      return await endLost(act, order);
    }
    const ready = await prepare(act).catch((error) => {
      if (error instanceof Problem && error.rule.status < 500) return error;
      throw error;
    });
    if (ready instanceof Problem) return await endRefused(act, order, ready);
    if (act.state === "waiting") await intend(act, order);
    if (!await beginAct(store.asPlatform(), act.approvalId, await holder.number())) throw goesOn(act);
    return await perform(act, order, ready);
  }

  /** @throws {Problem} why it may not be run after all */
  async function prepare(act: ActRecord): Promise<Ready> {
    const refuse = (why: string) => new Problem("Denied", `${act.approvalId} is not run: ${why}`);
    const operation = byName.get(act.operation);
    if (!operation) throw refuse("the operation is not there any more");
    const key = await findKeyById(store.asPlatform(), act.keyId);
    if (!key || key.expiresAt && key.expiresAt <= new Date()) {
      throw refuse("the key that asked was revoked or has expired");
    }
    const { id: keyId, tenant, tier, scope, principal, mayApprove } = key;
    const caller = { keyId, tenant, tier, scope, principal, mayApprove, address: act.address };
    const input = parseInput(operation.input, JSON.parse(act.input));
    const { action, text } = actionOf({ operation, request: { as: act.tool }, caller, input });
    const approval = await getApproval(store.asPlatform(), act.approvalId);
    if (approval?.status !== "approved") throw refuse("it is not approved");
    const shown = sha256(canonicalize(approval.action));
    if ([act.actionSha256, approval.actionSha256, shown].some((hash) => hash !== sha256(text))) {
      throw refuse(
        `it is not what was approved, which was ${String(action.tool)} with other arguments`,
      );
    }
    const { name, tool = {}, rest = {} } = operation;
    const names = [act.tool, name, ...Object.keys(tool), ...Object.keys(rest)];
    const { stops } = await inForce(store);
    const stop = stops.find((one) => stopsCall(one, act.keyId, names));
    if (stop) throw refuse(`such calls are stopped: ${stop.reason}`);
    return { operation, caller, input };
  }

  async function intend(act: ActRecord, { intentReceiptId, run }: ActOrder): Promise<void> {
    await store.asPlatform().transaction(async (trx) => {
      if (!await intendAct(trx, act.approvalId)) return;
      await requestSeal(trx, {
        id: intentReceiptId,
        category: "governed_act",
        actor: `key:${act.keyId}`,
        subject: act.tool,
        action: "act.intended",
        outcome: "intended",
        details: { ...detailsOf(act), ...run },
      });
    });
  }

  async function perform(act: ActRecord, order: ActOrder, ready: Ready) {
    const started = performance.now();
    const { operation, caller, input } = ready;
    const request: CallRequest = {
      ...{ door: act.door, requestId: act.approvalId, credential: undefined, as: act.tool, input },
      ...{ address: act.address, signal: new AbortController().signal },
    };
    const ruling: GovernanceDecision = {
      ...{ id: act.decisionId, decision: "needs_approval", rule: "approved", policyVersion: "" },
      ...{ dryRun: false, approvalId: act.approvalId, callReceiptId: order.outcomeReceiptId },
    };
    let output: unknown;
    let error: Problem | undefined;
    try {
      const detached = act.door === "a2a" && operation.longRunning !== undefined;
      const { signal } = request;
      const { door, approvalId: requestId, decisionId } = act;
      const call = { caller, door, requestId, signal, detached, decisionId };
      const context = Object.assign(Object.create(platform), { ...call, progress: () => {} });
      output = await operation.run(input, context);
    } catch (thrown) {
      error = asProblem(thrown);
      if (error.rule.status >= 500) {
        platform.log.error({ approval_id: act.approvalId, err: thrown }, "an approved call failed");
      }
    }
    const durationMs = performance.now() - started;
    const receipt = callReceipt({
      operation,
      request,
      caller,
      input,
      output,
      error,
      ruling,
      durationMs,
    });
    const end = error
      ? {
        state: "failed",
        output: null,
        error: { name: error.name, message: error.message },
      } as const
      : { state: "done", output: textOf(output), error: null } as const;
    const { details } = receipt;
    return await finish(act, { ...end, receiptId: order.outcomeReceiptId }, {
      ...receipt,
      category: "governed_act",
      details: { ...details, ...detailsOf(act), ...order.run },
    });
  }

  async function endRefused(act: ActRecord, order: ActOrder, problem: Problem) {
    const error = { name: problem.name, message: problem.message };
    const end: ActEnd = {
      state: "refused",
      output: null,
      error,
      receiptId: order.outcomeReceiptId,
    };
    return await finish(act, end, bareReceipt(act, order, "refused", problem.message));
  }

  /** Ends what was begun by a process that has ended since: by what is found of it. */
  async function endLost(act: ActRecord, order: ActOrder) {
    const { approvalId, operation, decisionId } = act;
    const receiptId = order.outcomeReceiptId;
    const since = (await getApproval(store.asPlatform(), approvalId))?.decidedAt;
    const found: Recovery = since
      ? await trace({ operation, decisionId, since: new Date(since), awaited: act.door !== "a2a" })
      : { state: "unknown" };
    const lost = lostEnd(act, receiptId, found);
    return await finish(act, { ...lost.end, receiptId }, {
      ...bareReceipt(act, order, lost.outcome, lost.why),
      details: { ...detailsOf(act), ...order.run, ...lost.found },
    }, lost.look);
  }

  /** Writes the end down and asks for its receipt, together. An end that is known already stays, and is corrected in the ledger. */
  async function finish(act: ActRecord, end: ActEnd, receipt: CallReceipt, look?: string) {
    const first = await whenThere(() =>
      store.asPlatform().transaction(async (trx) => {
        if (!await endAct(trx, act.approvalId, end)) return false;
        const { state, receiptId } = end;
        if (state === "unknown") {
          await leaveUnknownToPeople(trx, { ...act, receiptId: receiptId!, look });
        }
        await requestSeal(trx, receipt);
        return true;
      })
    );
    if (!first) {
      if (end.state === "done" || end.state === "failed") await sealCall(sealer, receipt);
      const known = (await getAct(store.asPlatform(), act.approvalId))!;
      return resultOf(act, known);
    }
    return resultOf(act, end);
  }

  return run;
}

/** Temporal asks again, until it has ended or its process has. */
function goesOn({ approvalId }: ActRecord): Problem {
  return new Problem("Unavailable", `${approvalId} is being run by another attempt`);
}

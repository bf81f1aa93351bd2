import { WorkflowNotFoundError } from "@temporalio/client";
import type { Recovery } from "../../contract/mod.ts";
import type { RunId } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { endHeldCall, getHeldCall } from "../../store/approvals/mod.ts";
import {
  type AbandonedCall,
  listAbandonedCalls,
  listOverdueHeldCalls,
  pruneCallEffects,
  pruneIdempotentCalls,
  settleCall,
  settleEndedCalls,
} from "../../store/calls/mod.ts";
import { openUnknownCallTicket } from "../../store/incidents/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { actorOf } from "../actor.ts";
import { forTenant, type Platform } from "../platform.ts";
import { receiptIdOf } from "../receipt_ids.ts";
import { recoverCall } from "./recovery.ts";

/** Seconds after which a call is looked for; while its process lives, it is waited for. */
const LATE_SECONDS = 15;
/** Milliseconds after which a call that can't be looked for is given up as unknown. */
const GIVE_UP_AFTER_MS = 60 * 60_000;

/**
 * Seals the end of calls that were allowed and whose process was killed: `success`, `failed` or `not_done` where that is
 * proven by what they would have made, else `unknown`. Safe to repeat: each call has one receipt of its end.
 *
 * @returns how many there were
 */
export async function settleLostCalls(platform: Platform): Promise<number> {
  let settled = 0;
  for (const tenant of await listTenants(platform.store.asPlatform())) {
    settled += await settleCallsOfTenant(forTenant(platform, tenant));
  }
  return settled;
}

async function settleCallsOfTenant(platform: Platform): Promise<number> {
  const { db } = platform.store;
  await settleEndedCalls(db);
  let settled = 0;
  for (const call of await listAbandonedCalls(db, LATE_SECONDS)) {
    const recovery = await recover(platform, call);
    if (recovery && await sealRecovered(platform, call, recovery)) settled++;
  }
  await pruneCallEffects(db);
  await pruneIdempotentCalls(db);
  return settled + await settleLateHeldCalls(platform);
}

/** @returns undefined where that can't be found out at the moment; one such call keeps no other from being settled */
async function recover(platform: Platform, call: AbandonedCall): Promise<Recovery | undefined> {
  if (!call.sealed) return { state: "not_done" }; // it begins only after its decision is sealed
  const { id: decisionId, at: since, operation } = call;
  try {
    return await recoverCall(platform, { operation, decisionId, since });
  } catch {
    return Date.now() - since.getTime() < GIVE_UP_AFTER_MS ? undefined : { state: "unknown" };
  }
}

async function sealRecovered(
  { store, operations }: Pick<Platform, "store" | "operations">,
  call: AbandonedCall,
  recovery: Recovery,
): Promise<boolean> {
  return await store.db.transaction(async (trx) => {
    if (!await settleCall(trx, call.id)) return false;
    if (recovery.state === "unknown") {
      await openUnknownCallTicket(trx, { ...call, ...recovery, receiptId: call.callReceiptId });
    }
    await requestSeal(trx, {
      id: call.callReceiptId,
      category: call.door === "rest" ? "api_call" : "tool_call",
      actor: actorOf(operations.get(call.operation) ?? {}, call.keyId),
      subject: call.tool,
      action: call.operation,
      outcome: recovery.state === "done" ? "success" : recovery.state,
      details: {
        door: call.door,
        effect: call.effect,
        decision: "allow",
        decision_id: call.id,
        code: "process_ended",
        ...("ids" in recovery ? { found: recovery.ids } : {}),
      },
    });
    return true;
  });
}

/** Settles approved calls of a tenant whose workflow was ended from outside. */
async function settleLateHeldCalls(platform: Platform): Promise<number> {
  const db = platform.store.db;
  let settled = 0;
  for (const approvalId of await listOverdueHeldCalls(db, LATE_SECONDS)) {
    const run = await endedRun(platform, `act-${approvalId}`);
    const held = run && await getHeldCall(db, approvalId);
    if (!run || !held || held.endedAt) continue;
    const state = held.state === "begun" ? "unknown" : "refused";
    const receiptId = receiptIdOf(run, "ENDED");
    const error = { name: "Cancelled", message: `The run of ${approvalId} was ended from outside` };
    await db.transaction(async (trx) => {
      if (!await endHeldCall(trx, approvalId, { state, output: null, error, receiptId })) return;
      if (state === "unknown") await openUnknownCallTicket(trx, { ...held, receiptId });
      await requestSeal(trx, {
        id: receiptId,
        category: "governed_act",
        actor: `key:${held.keyId}`,
        subject: held.tool,
        action: held.operation,
        outcome: state,
        details: {
          approval_id: approvalId,
          decision_id: held.decisionId,
          action_commitment: held.actionCommitment,
          ...run,
        },
      });
    });
    settled++;
  }
  return settled;
}

/** @returns undefined where the run is open, or has not begun yet */
async function endedRun(
  { temporal }: Pick<Platform, "temporal">,
  workflowId: string,
): Promise<RunId | undefined> {
  try {
    const { status, runId } = await (await temporal()).workflow.getHandle(workflowId).describe();
    return status.name === "RUNNING" ? undefined : { workflow_id: workflowId, run_id: runId };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

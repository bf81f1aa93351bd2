import { WorkflowNotFoundError } from "@temporalio/client";
import type { Recovery } from "../contract/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import {
  type AbandonedCall,
  listAbandonedCalls,
  endHeldCall,
  pruneCallEffects,
  getHeldCall,
  listOverdueHeldCalls,
  openUnknownCallTicket,
  settleCall,
  settleEndedCalls,
  } from "../store/mod.ts";
import { type ActivityParts, receiptIdOf } from "./_parts.ts";

/** A call is looked for after this many seconds; where its process lives, it is still waited for. */
const LATE_SECONDS = 15;
/** After that it is not tried any more to find out. */
const TRACED_WITHIN_MS = 60 * 60_000;

/** What is done about calls whose end nobody has told. */
export function openCalls({ store, temporal, traceCall }: ActivityParts) {
  /**
   * Seals what became of calls that were allowed and whose process was killed: `success`, `failed` or `not_done` where
   * that is proven by what they would have made, else `unknown`. Safe to repeat: each call has one receipt of its end.
   *
   * @returns how many there were
   */
  async function settleOpenCalls(): Promise<number> {
    await settleEndedCalls(store.asPlatform());
    const found = await listAbandonedCalls(store.asPlatform(), LATE_SECONDS);
    let settled = 0;
    for (const call of found) {
      const traced = await trace(call);
      if (!traced) continue;
      await store.asPlatform().transaction(async (trx) => {
        if (!await settleCall(trx, call.id)) return;
        settled++;
        if (traced.state === "unknown") {
          await openUnknownCallTicket(trx, { ...call, ...traced, receiptId: call.callReceiptId });
        }
        await requestSeal(trx, {
          id: call.callReceiptId,
          category: call.door === "rest" ? "api_call" : "tool_call",
          actor: `key:${call.keyId}`,
          subject: call.tool,
          action: call.operation,
          outcome: traced.state === "done" ? "success" : traced.state,
          details: {
            door: call.door,
            effect: call.effect,
            decision: "allow",
            decision_id: call.id,
            code: "process_ended",
            ...("ids" in traced ? { found: traced.ids } : {}),
          },
        });
      });
    }
    await pruneCallEffects(store.asPlatform());
    return settled + await settleLateActs();
  }

  /** @returns undefined where that can't be found out at the moment */
  async function trace(call: AbandonedCall): Promise<Recovery | undefined> {
    if (!call.sealed) return { state: "not_done" }; // then it was not begun
    const { id: decisionId, at: since, operation } = call;
    try {
      return await traceCall?.({ operation, decisionId, since }) ?? { state: "unknown" };
    } catch {
      // One call that can't be looked for keeps no other from being settled.
      return Date.now() - since.getTime() < TRACED_WITHIN_MS ? undefined : { state: "unknown" };
    }
  }

  /** Approved calls whose workflow was ended from outside. */
  async function settleLateActs(): Promise<number> {
    let ended = 0;
    for (const approvalId of await listOverdueHeldCalls(store.asPlatform(), LATE_SECONDS)) {
      const run = await endedRun(`act-${approvalId}`);
      const act = run && await getHeldCall(store.asPlatform(), approvalId);
      if (!run || !act || act.endedAt) continue;
      const state = act.state === "begun" ? "unknown" : "refused";
      const receiptId = receiptIdOf(run, "ENDED");
      const message = `The run of ${approvalId} was ended from outside`;
      await store.asPlatform().transaction(async (trx) => {
        const error = { name: "Cancelled", message };
        if (!await endHeldCall(trx, approvalId, { state, output: null, error, receiptId })) return;
        if (state === "unknown") await openUnknownCallTicket(trx, { ...act, receiptId });
        await requestSeal(trx, {
          id: receiptId,
          category: "governed_act",
          actor: `key:${act.keyId}`,
          subject: act.tool,
          action: act.operation,
          outcome: state,
          details: { approval_id: approvalId, decision_id: act.decisionId, ...run },
        });
      });
      ended++;
    }
    return ended;
  }

  /** @returns undefined where it goes on, or has not begun yet */
  async function endedRun(workflowId: string) {
    try {
      const { status, runId } = await temporal.workflow.getHandle(workflowId).describe();
      return status.name === "RUNNING" ? undefined : { workflow_id: workflowId, run_id: runId };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  return { settleOpenCalls };
}

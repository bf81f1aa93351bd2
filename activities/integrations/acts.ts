import { receiptIdOf } from "../../calls/mod.ts";
import {
  isActPermitted,
  readOrderedAct,
  targetOf,
} from "../../operations/integrations/acts/mod.ts";
import { Problem, redactSecrets } from "../../contract/mod.ts";
import {
  type ActAttempt,
  type ActOrder,
  type ActProof,
  type ActResult,
  actWorkflowId,
  type RunId,
  say,
} from "../../contract/domain/mod.ts";
import { RemoteFailed } from "../../integrations/remote/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { findStop, noteActEnded } from "../../store/calls/mod.ts";
import { findValidKeys } from "../../store/keys/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import { intendOnce } from "../acts/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { readShown, receiptOf, send, stoppableNames, wayToFindOut } from "./_systems.ts";

/** Age of an order at which nobody expects the act any more. */
const MAX_AGE_MS = 15 * 60_000;

/** Creates the activities that act in the operator's own systems. */
export function outsideActivities(parts: ActivityParts) {
  const { store: { db }, config, outside } = parts;

  /**
   * Seals the intent of an act. Safe to repeat: the act names the receipt.
   *
   * @returns `is_first`: false where another run had the intent before; it may have acted. `wait_seconds`: how long it is
   *   looked for
   */
  async function intendAct(
    order: ActOrder,
    run: RunId,
  ): Promise<{ readonly is_first: boolean; readonly wait_seconds: number }> {
    const wait_seconds = config.settings.SEALOOP_ACT_WAIT_SECONDS;
    const { act } = await readOrderedAct(db, order);
    const is_first = await intendOnce(db, {
      ...receiptOf(order, act, run),
      id: intentReceiptOf(order.act_id),
      outcome: "intended",
      evidence: { act: redactSecrets(act) },
    });
    return { is_first, wait_seconds };
  }

  /** Acts. Not safe to repeat: it may have been done, so that it has one attempt. */
  async function attemptAct(order: ActOrder): Promise<ActAttempt> {
    const noted = await readOrderedAct(db, order);
    const { act, keyId, ageMs } = noted;
    // A worker may come to it long after the call was allowed.
    if (ageMs > MAX_AGE_MS) return { state: "not_done", code: "expired", execution_id: null };
    if (keyId !== null && (await findValidKeys(db, [keyId])).length === 0) {
      return { state: "not_done", code: "key_invalid", execution_id: null };
    }
    const stop = await findStop(db, { keyId, names: stoppableNames(act) });
    if (stop) return { state: "not_done", code: "stopped", execution_id: null };
    if (!await isActPermitted(parts, noted)) {
      return { state: "not_done", code: "not_permitted", execution_id: null };
    }
    try {
      return { state: "sent", code: "accepted", execution_id: await send(outside, order, act) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const failure = error instanceof RemoteFailed ? error : undefined;
      const { outcome = "not_done", code = "not_startable" } = failure ?? {};
      return { state: outcome, code, execution_id: null };
    }
  }

  /** Reads what the system shows of an act. Safe to repeat: it only reads. @returns null: nothing, or it can't be read now */
  async function readAct(
    order: ActOrder,
    known: { readonly execution_id: string | null; readonly since_ms: number },
  ): Promise<ActProof | null> {
    const { act } = await readOrderedAct(db, order);
    try {
      return await readShown(outside, order, act, known);
    } catch (error) {
      if (error instanceof Problem) return null;
      throw error;
    }
  }

  /** Seals the end of an act, and tells people where nobody knows it. Safe to repeat: the run names the receipt. */
  async function sealAct(
    order: ActOrder,
    run: RunId,
    { state, code, execution_id }: Omit<ActResult, "act_id" | "receipt_id">,
  ): Promise<ActResult> {
    const { act_id } = order;
    const { act } = await readOrderedAct(db, order);
    const receipt = {
      ...receiptOf(order, act, run),
      id: endReceiptOf(act_id, run.run_id),
    };
    await db.transaction(async (trx) => {
      await requestSeal(trx, {
        ...receipt,
        outcome: state,
        details: { ...receipt.details, code, ...(execution_id ? { execution_id } : {}) },
      });
      await noteActEnded(trx, order.decision_id);
      if (state !== "unknown") return;
      await addMessage(trx, {
        kind: "act.unknown",
        from: act.system,
        subject: say`Nobody can tell whether ${act_id} was done: ${targetOf(act)}`,
        text: wayToFindOut(act_id, act, code, execution_id),
        refs: { act_id, receipt_id: receipt.id },
        severity: "high",
        key: `act/${act_id}/${run.run_id}`,
      });
    });
    return { act_id, state, code, execution_id, receipt_id: receipt.id };
  }

  return { intendAct, attemptAct, readAct, sealAct };
}

/** Returns the id of the receipt of an act's intent, which all runs share. */
export function intentReceiptOf(actId: string): string {
  return receiptIdOf({ workflow_id: actWorkflowId(actId), run_id: "" }, "INTENT");
}

/** Returns the id of the receipt of an act's end. */
export function endReceiptOf(actId: string, runId: string): string {
  return receiptIdOf({ workflow_id: actWorkflowId(actId), run_id: runId }, "ENDED");
}

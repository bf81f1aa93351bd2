import {
  type ActOrder,
  type ActResult,
  actWorkflowId,
  type RunId,
} from "../../contract/domain/mod.ts";
import { getRunStatus } from "../../calls/mod.ts";
import { readOrderedAct } from "../../operations/integrations/acts/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { getReceipt, getSealState, ReceiptConflict } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { ActKind } from "../acts/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { endReceiptOf, intentReceiptOf, outsideActivities } from "./acts.ts";

/** Acts in the operator's own systems. One is `unknown`, and people are told, unless its system shows its end. */
export const outsideKind: ActKind = {
  workflowId: actWorkflowId,
  async end(owner, { id: act_id, act: decision_id }, run, status) {
    if (status === "COMPLETED") return false; // just now
    const { db } = owner.store;
    if (status === "NOT_FOUND" && !await isIntended(db, act_id)) return false; // it may start yet
    await settle(owner, { act_id, decision_id }, run);
    return true;
  },
};

/**
 * Returns how an act has ended, and seals that where its run was ended from outside, or never began.
 *
 * @returns undefined: it goes on
 * @throws {Problem} `Unavailable`: its end waits to be sealed
 */
export async function endOfAct(
  parts: ActivityParts,
  order: ActOrder,
): Promise<ActResult | undefined> {
  const workflow_id = actWorkflowId(order.act_id);
  const { status, runId: run_id = "gone" } = await getRunStatus(parts.temporal, workflow_id);
  if (status === "RUNNING") return undefined;
  if (status !== "COMPLETED") return await settle(parts, order, { workflow_id, run_id });
  const { workflow } = await parts.temporal();
  return await workflow.getHandle(workflow_id, run_id).result() as ActResult;
}

async function settle(owner: ActivityParts, order: ActOrder, run: RunId): Promise<ActResult> {
  const { act_id } = order;
  const receipt_id = endReceiptOf(act_id, run.run_id);
  const sealed = await getReceipt(owner.store, receipt_id);
  if (sealed) {
    const { outcome, details: { code, execution_id = null } } = JSON.parse(sealed.text);
    return { act_id, state: outcome, code, execution_id, receipt_id };
  }
  try {
    return await outsideActivities(owner).sealAct(order, run, await findEnd(owner, order));
  } catch (error) {
    if (!(error instanceof ReceiptConflict)) throw error;
    throw new Problem("Unavailable", `The end of ${act_id} waits to be sealed`);
  }
}

async function isIntended(db: Db, actId: string): Promise<boolean> {
  return await getSealState(db, intentReceiptOf(actId)) !== undefined;
}

/** Finds out how an act has ended whose run has. No attempt is made before the intent. */
async function findEnd(
  owner: ActivityParts,
  order: ActOrder,
): Promise<Pick<ActResult, "state" | "code" | "execution_id">> {
  const { db } = owner.store;
  const code = "ended_from_outside";
  if (!await isIntended(db, order.act_id)) {
    return { state: "not_done", code, execution_id: null };
  }
  const { ageMs } = await readOrderedAct(db, order);
  const known = { execution_id: null, since_ms: Date.now() - ageMs };
  const proof = await outsideActivities(owner).readAct(order, known);
  if (!proof?.has_ended || proof.state === "unknown") {
    return { state: "unknown", code, execution_id: null };
  }
  return { state: proof.state, code: proof.code, execution_id: proof.execution_id };
}

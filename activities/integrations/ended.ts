import {
  type ActOrder,
  type ActResult,
  actWorkflowId,
  PLATFORM_TENANT,
  type RunId,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { forTenant, getRunStatus } from "../../calls/mod.ts";
import { readOrderedAct, unlessAway } from "../../operations/integrations/acts/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { getReceipt, getSealState, ReceiptConflict } from "../../ledger/mod.ts";
import { findDecisionOfAct } from "../../store/calls/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { endReceiptOf, intentReceiptOf, outsideActivities } from "./acts.ts";

const MAX_RUNS = 1_000;

/**
 * Seals the end of acts whose workflow was ended from outside, as far as their system shows it; else as `unknown`, and
 * people are told. Runs are looked for as long as Temporal keeps them. Safe to repeat: the run names the receipt, and the
 * message is one.
 *
 * @returns how many
 */
export async function settleEndedActs(parts: ActivityParts): Promise<number> {
  const owner = forTenant(parts, PLATFORM_TENANT); // acts are the operator's
  const { workflow } = await parts.temporal();
  const query = `WorkflowType = "${WORKFLOW.outsideAct}" ` +
    `AND ExecutionStatus IN ("Terminated", "Canceled", "Failed", "TimedOut")`;
  let settled = 0;
  for await (const { workflowId, runId } of workflow.list({ query, pageSize: MAX_RUNS })) {
    const act_id = workflowId.replace(/^act-/, "");
    if (await getReceipt(owner.store, endReceiptOf(act_id, runId))) continue;
    const decision_id = await findDecisionOfAct(owner.store.db, act_id);
    if (decision_id === undefined) continue;
    const run = { workflow_id: workflowId, run_id: runId };
    const end = await unlessAway<ActResult | undefined>(
      settle(owner, { act_id, decision_id }, run),
      undefined,
    );
    if (end) settled++;
    if (settled === MAX_RUNS) break;
  }
  return settled;
}

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

/** Finds out how an act has ended whose run has. No attempt is made before the intent. */
async function findEnd(
  owner: ActivityParts,
  order: ActOrder,
): Promise<Pick<ActResult, "state" | "code" | "execution_id">> {
  const { db } = owner.store;
  const code = "ended_from_outside";
  if (!await getSealState(db, intentReceiptOf(order.act_id))) {
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

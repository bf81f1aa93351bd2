import { setTimeout as sleep } from "node:timers/promises";
import { isWorkersOwn } from "../../calls/mod.ts";
import { WorkflowNotFoundError } from "@temporalio/client";
import { approvalWorkflowId } from "../../calls/approvals/mod.ts";
import { recheckSignal, type RequestingRun } from "../../contract/domain/mod.ts";
import { type ApprovalRecord, getApproval, listApprovals } from "../../store/approvals/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { createActionComparer, type MadeAction } from "./_compare_action.ts";
import { probeActivities } from "./probe.ts";

/** A person waits for the answer to the vote; the loop looks again before it acts. */
const MAX_PROBE_MS = 4_000;
const MAX_RECHECKED = 200;

/** Creates the function that tells what has changed of a repair since people were asked about it. */
export function createOutdatedCheck(parts: ActivityParts) {
  const compareAction = createActionComparer(parts);
  const { detect } = probeActivities(parts);

  /** @returns a sentence without its end; undefined: nothing has changed, or no loop asks */
  async function findChange(approvalId: string): Promise<string | undefined> {
    const approval = await getApproval(parts.store.db, approvalId);
    if (!approval || !isRepair(approval)) return undefined;
    const { finding, ...run } = approval.askingRun as unknown as RequestingRun;
    const present = detect(finding).then((probed) => probed.present, () => true);
    const [isPresent, { changed }] = await Promise.all([
      Promise.race([present, sleep(MAX_PROBE_MS, true, { ref: false })]),
      compareAction(
        { finding, run, ticket_id: approval.ticketId ?? "", action: madeActionOf(approval) },
        false,
      ),
    ]);
    return isPresent ? changed : "The fault is gone";
  }

  return findChange;
}

/**
 * Tells the approvals of repairs that are other ones by now to look themselves, so that they end and what is right now is asked
 * for. Safe to repeat: an approval ends once.
 */
export async function recheckApprovals(parts: ActivityParts): Promise<void> {
  const findChange = createOutdatedCheck(parts);
  const pending = await listApprovals(parts.store.db, { status: "pending", limit: MAX_RECHECKED });
  await Promise.all(pending.map(async ({ id }) => {
    if (await findChange(id) === undefined) return;
    const { workflow } = await parts.temporal();
    await workflow.getHandle(approvalWorkflowId(id)).signal(recheckSignal).catch((error) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error; // it has ended meanwhile
    });
  }));
}

function isRepair(approval: ApprovalRecord): boolean {
  const { status, askingRun, action } = approval;
  return status === "pending" && askingRun !== null && isWorkersOwn(approval) &&
    typeof action.runbook === "string";
}

function madeActionOf({ action, actionSha256 }: ApprovalRecord): MadeAction["action"] {
  return { ...action as unknown as MadeAction["action"], sha256: actionSha256 };
}

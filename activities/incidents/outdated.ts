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

/** Creates the activity that tells what has changed of a repair since people were asked about it. */
export function changeActivities(parts: ActivityParts) {
  const compareAction = createActionComparer(parts);
  const { detect } = probeActivities(parts);

  /**
   * Looks whether a repair is still what people were asked about. Safe to repeat: it only reads.
   *
   * @returns `change`: a sentence without its end; absent: nothing has changed, or no loop asks
   */
  async function findChange(
    { approval_id }: { readonly approval_id: string },
  ): Promise<{ readonly change?: string }> {
    const approval = await getApproval(parts.store.db, approval_id);
    if (!approval || !isRepair(approval)) return {};
    const { finding, ...run } = approval.askingRun as unknown as RequestingRun;
    const present = detect(finding).then((probed) => probed.present, () => true);
    const [isPresent, { changed }] = await Promise.all([
      Promise.race([present, sleep(MAX_PROBE_MS, true, { ref: false })]),
      compareAction(
        { finding, run, ticket_id: approval.ticketId ?? "", action: madeActionOf(approval) },
        false,
      ),
    ]);
    const change = isPresent ? changed : "The fault is gone";
    return change === undefined ? {} : { change };
  }

  return { findChange };
}

/**
 * Tells the approvals of repairs that are other ones by now to look themselves, so that they end and what is right now is asked
 * for. Safe to repeat: an approval ends once.
 *
 * @param places whose repairs are looked at; empty: those of no place
 */
export async function recheckApprovals(
  parts: ActivityParts,
  places: readonly string[],
): Promise<void> {
  const { findChange } = changeActivities(parts);
  const pending = await listApprovals(parts.store.db, { status: "pending", limit: MAX_RECHECKED });
  const here = pending.filter(({ askingRun }) => places.includes(placeOf(askingRun)));
  await Promise.all(here.map(async ({ id }) => {
    if ((await findChange({ approval_id: id })).change === undefined) return;
    const { workflow } = await parts.temporal();
    await workflow.getHandle(approvalWorkflowId(id)).signal(recheckSignal).catch((error) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error; // it has ended meanwhile
    });
  }));
}

function placeOf(askingRun: ApprovalRecord["askingRun"]): string {
  return (askingRun as RequestingRun | null)?.finding?.place ?? "";
}

function isRepair(approval: ApprovalRecord): boolean {
  const { status, askingRun, action } = approval;
  return status === "pending" && askingRun !== null && isWorkersOwn(approval) &&
    typeof action.runbook === "string";
}

function madeActionOf({ action, actionSha256 }: ApprovalRecord): MadeAction["action"] {
  return { ...action as unknown as MadeAction["action"], sha256: actionSha256 };
}

import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Platform } from "../../calls/mod.ts";
import { startNotedRun } from "../../calls/recover/mod.ts";
import { publishWorkflowId, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import type { PipelineItem } from "../../store/articles/mod.ts";
import { requireItem } from "./_item.ts";

/** Time that a caller waits for what the workflow of an item does at once. It goes on after it. */
const MAX_WAIT_MS = 5_000;
const POLL_MS = 100;

/** Starts the workflow that has people decide about an item, and publishes it; or joins it. */
export async function startPublishing(
  { temporal, store }: Pick<Platform, "temporal" | "store">,
  itemId: string,
): Promise<void> {
  await startNotedRun({ temporal, store, decisionId: undefined }, WORKFLOW.publish, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: publishWorkflowId(itemId),
    workflowIdReusePolicy: "REJECT_DUPLICATE",
    args: [{ item_id: itemId }],
    staticSummary: `Publishes ${itemId}`,
  });
}

/** Waits a moment until people can decide about an item. */
export async function waitUntilAsked(context: Context, id: string): Promise<PipelineItem> {
  return await waitFor(context, id, async ({ approval_id }) => {
    const approval = approval_id && await getApproval(context.store.db, approval_id);
    return approval ? approval.moves > 0 : false;
  });
}

/** Waits a moment until an approved item is published, or is not. */
export async function waitUntilPublished(context: Context, id: string): Promise<PipelineItem> {
  return await waitFor(
    context,
    id,
    ({ stage, publishing }) => stage !== "review" && publishing?.state !== "intended",
  );
}

async function waitFor(
  { store, signal }: Pick<Context, "store" | "signal">,
  id: string,
  isThere: (item: PipelineItem) => boolean | Promise<boolean>,
): Promise<PipelineItem> {
  const end = Date.now() + MAX_WAIT_MS;
  let item = await requireItem(store.db, id);
  while (!await isThere(item) && Date.now() < end && !signal.aborted) {
    await sleep(POLL_MS);
    item = await requireItem(store.db, id);
  }
  return item;
}

import {
  continueAsNew,
  ParentClosePolicy,
  setCurrentDetails,
  sleep,
  startChild,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import { type AnchorBatch, type AnchorSweep, ATTRIBUTE } from "../domain/mod.ts";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { OUTSIDE, perform } from "./_options.ts";

/**
 * Takes the receipts since the last anchor as a batch, and sees to it that each batch that is not confirmed has its
 * run, `anchor-<first>-<last>`.
 */
export async function anchorReceipts(): Promise<AnchorSweep> {
  const { configured, batches, poll_seconds } = await perform(
    OUTSIDE,
    "Makes a batch of the receipts since the last anchor",
  ).openAnchors();
  const anchors: string[] = [];
  for (const { first, last } of batches) {
    const workflowId = `anchor-${first}-${last}`;
    anchors.push(workflowId);
    await startUnlessRunning(workflowId, { first, last, poll_seconds, attempt: 0 });
  }
  return { configured, anchors };
}

async function startUnlessRunning(workflowId: string, batch: AnchorBatch): Promise<void> {
  try {
    await startChild(anchorBatch, {
      workflowId,
      args: [batch],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `Timestamps receipts ${batch.first} to ${batch.last} in Bitcoin`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Gives one batch to calendars, and asks again, with growing pauses, for days where it must, until its block counts. */
export async function anchorBatch(batch: AnchorBatch): Promise<{ block_height: number }> {
  const { first, last, poll_seconds } = batch;
  let { attempt } = batch;
  while (true) {
    const { state, error, blockHeight } = await perform(OUTSIDE, "Asks calendars, checks blocks")
      .advanceAnchor({ first, last });
    if (blockHeight !== null) {
      upsertSearchAttributes([{ key: ATTRIBUTE.outcome, value: "sealed" }]);
      setCurrentDetails(`**${state}** · receipts ${first} to ${last} · block ${blockHeight}`);
      return { block_height: blockHeight };
    }
    setCurrentDetails(
      `**${state}** · receipts ${first} to ${last} · attempt ${attempt + 1}: ${error}`,
    );
    await sleep(pauseMs(poll_seconds, attempt++));
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof anchorBatch>({ first, last, poll_seconds, attempt });
    }
  }
}

const LONGEST_MS = 6 * 60 * 60_000;
const GROWTH = 1.5;
/** Attempts after which the pause is at its longest, whatever the first one was. */
const MOST_GROWTH = 30;

/** A block comes every ten minutes, and calendars take some hours: so often at first, rarely after a day. */
function pauseMs(pollSeconds: number, attempt: number): number {
  return Math.min(pollSeconds * 1000 * GROWTH ** Math.min(attempt, MOST_GROWTH), LONGEST_MS);
}

import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import {
  continueAsNew,
  ParentClosePolicy,
  setCurrentDetails,
  sleep,
  startChild,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import { type AnchorBatch, type AnchorSweep, ATTRIBUTE } from "../contract/domain/mod.ts";
import { perform, REMOTE } from "./_options.ts";

const MAX_PAUSE_MS = 6 * 60 * 60_000;
const PAUSE_FACTOR = 1.5;
/** Attempts after which the pause no longer grows. */
const MAX_GROWTH_ATTEMPTS = 30;

/**
 * Makes a batch of the receipts since the last one, and starts a run of {@linkcode anchorBatch} for each batch that is
 * not confirmed and has none. Its id is `anchor-<first>-<last>`.
 */
export async function anchorReceipts(): Promise<AnchorSweep> {
  const { configured, batches, poll_seconds } = await perform(
    REMOTE,
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

/** Submits one batch to calendars, and polls, for days if needed, until its block is confirmed. */
export async function anchorBatch(
  batch: AnchorBatch,
): Promise<{ readonly block_height: number }> {
  const { first, last, poll_seconds } = batch;
  for (let { attempt } = batch;; attempt++) {
    const { state, error, blockHeight } = await perform(REMOTE, "Asks calendars, checks blocks")
      .advanceAnchor({ first, last });
    const details = `**${state}** · receipts ${first} to ${last}`;
    if (blockHeight !== null) {
      upsertSearchAttributes([{ key: ATTRIBUTE.outcome, value: "sealed" }]);
      setCurrentDetails(`${details} · block ${blockHeight}`);
      return { block_height: blockHeight };
    }
    setCurrentDetails(`${details} · attempt ${attempt + 1}: ${error}`);
    await sleep(pauseMs(poll_seconds, attempt));
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof anchorBatch>({ first, last, poll_seconds, attempt: attempt + 1 });
    }
  }
}

/** Returns the pause after an attempt. It grows, as a block comes within hours at first, and then hardly sooner. */
function pauseMs(pollSeconds: number, attempt: number): number {
  const growth = PAUSE_FACTOR ** Math.min(attempt, MAX_GROWTH_ATTEMPTS);
  return Math.min(pollSeconds * 1_000 * growth, MAX_PAUSE_MS);
}

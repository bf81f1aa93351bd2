import { log } from "@temporalio/activity";
import { WORKFLOW } from "../../contract/domain/mod.ts";
import {
  beginScrub as begin,
  type ChainSnapshot,
  endScrub as end,
  readLogSettings,
  scrubPart as verifyPart,
  type ScrubParts,
  type ScrubPass,
  type ScrubResult,
} from "../../ledger/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { workerStopping } from "../turns.ts";

/** Creates the activities that verify the stored ledger. */
export function scrubActivities({ store, config, temporal, stopping }: ActivityParts) {
  const createParts = (): ScrubParts => ({
    store,
    log: readLogSettings(config),
    onBreak: ({ position, check, reason }) =>
      log.error(`The ledger is broken at position ${position} (${check}): ${reason}`),
    onError: (error) => log.warn(`The scrub continues without the checkpoint: ${error}`),
  });

  /** Begins a pass. Safe to repeat: a second attempt begins another pass, and the first is dropped. */
  async function beginScrub(): Promise<ScrubPass> {
    return await begin(createParts(), await lastSnapshot());
  }

  /** Verifies the next part of a pass. Safe to repeat: a break is stored once. */
  async function scrubPart(pass: ScrubPass): Promise<ScrubPass> {
    try {
      return await verifyPart(createParts(), pass, stopping);
    } catch (error) {
      throw stopping.aborted ? workerStopping() : error;
    }
  }

  /** Ends a pass. Safe to repeat: it compares again. */
  async function endScrub(pass: ScrubPass): Promise<ScrubResult> {
    return await end(createParts(), pass);
  }

  /** Returns the chain as the last completed pass saw it, from that run's result; null: there was none. */
  async function lastSnapshot(): Promise<ChainSnapshot | null> {
    const query = `WorkflowType = '${WORKFLOW.scrubLedger}' AND ExecutionStatus = 'Completed'`;
    const { workflow } = await temporal();
    for await (const { workflowId, runId } of workflow.list({ query, pageSize: 1 })) { // newest first
      const result: ScrubResult = await workflow.getHandle(workflowId, runId).result();
      return result.known;
    }
    return null;
  }

  return { beginScrub, scrubPart, endScrub };
}

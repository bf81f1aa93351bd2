import { log } from "@temporalio/activity";
import {
  beginScrub,
  type ChainSnapshot,
  endScrub,
  readLogSettings,
  scrubPart,
  type ScrubParts,
  type ScrubPass,
  type ScrubResult,
} from "../ledger/mod.ts";
import { WORKFLOW } from "../domain/mod.ts";
import type { ActivityParts } from "./_parts.ts";
import { takenOver } from "./sequencer.ts";

/** Verifying the ledger from its stored bytes. */
export function scrubbing({ store, config, temporal, stopping }: ActivityParts) {
  const parts = (): ScrubParts => ({
    store,
    log: readLogSettings(config),
    onBreak: ({ position, check, reason }) =>
      log.error(`The ledger does not hold at position ${position} (${check}): ${reason}`),
    onError: (error) => log.warn(`The scrub goes on without the checkpoint: ${error}`),
  });

  /** What the last finished pass knew, as Temporal keeps it; null: there was none. */
  async function lastKnown(): Promise<ChainSnapshot | null> {
    const query = `WorkflowType = '${WORKFLOW.scrubLedger}' AND ExecutionStatus = 'Completed'`;
    const { workflow } = await temporal();
    for await (const { workflowId, runId } of workflow.list({ query, pageSize: 1 })) { // newest first
      const result: ScrubResult = await workflow.getHandle(workflowId, runId).result();
      return result.known;
    }
    return null;
  }

  return {
    /** Begins a pass. Safe to repeat: it begins another then, and the first is forgotten. */
    async beginScrub(): Promise<ScrubPass> {
      return await beginScrub(parts(), await lastKnown());
    },

    /** Verifies the next part of a pass. Safe to repeat: what it finds is kept once. */
    async scrubPart(pass: ScrubPass): Promise<ScrubPass> {
      try {
        return await scrubPart(parts(), pass, stopping);
      } catch (error) {
        throw stopping.aborted ? takenOver() : error;
      }
    },

    /** Ends a pass. Safe to repeat: it compares again. */
    async endScrub(pass: ScrubPass): Promise<ScrubResult> {
      return await endScrub(parts(), pass);
    },
  };
}

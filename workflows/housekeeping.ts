import { continueAsNew, isCancellation, proxyActivities, workflowInfo } from "@temporalio/workflow";
import type { Activities } from "../activities/mod.ts";
import type { SealRequest } from "../ledger/mod.ts";
import { PATIENT, SEALING, STANDING } from "./_options.ts";

const { findEndedRuns } = proxyActivities<Activities>(PATIENT);
const { sealEndedRun, sealReceipt } = proxyActivities<Activities>(SEALING);
const { runLedgerSequencer } = proxyActivities<Activities>(STANDING);

/** Finds tickets whose run was ended from outside (terminated, timed out, failed), and seals that they were. */
export async function reconcileRuns(): Promise<{ sealed: number }> {
  const ended = await findEndedRuns();
  for (const run of ended) await sealEndedRun(run);
  return { sealed: ended.length };
}

/** Seals what a caller asked for. Its id is `seal-<receipt id>`. */
export async function sealRequest(
  request: SealRequest & { id: string },
): Promise<{ id: string; position: number; hash: string }> {
  return await sealReceipt(request);
}

/** Keeps the one sequencer running. Its id is `ledger-sequencer`. */
export async function ledgerSequencer(): Promise<void> {
  while (!workflowInfo().continueAsNewSuggested) {
    try {
      await runLedgerSequencer();
    } catch (error) {
      if (isCancellation(error)) throw error; // else its hour is over: another turn
    }
  }
  await continueAsNew<typeof ledgerSequencer>();
}

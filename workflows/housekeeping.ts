import { continueAsNew, isCancellation, workflowInfo } from "@temporalio/workflow";
import { PATIENT, perform, SEALING, STANDING } from "./_options.ts";

/**
 * Finds tickets whose run was ended from outside (terminated, timed out, failed), and approvals that nobody waits for any
 * more for the same reason, and seals that they were; and what became of governed calls whose process was killed.
 */
export async function reconcileRuns(): Promise<{ sealed: number }> {
  const ended = await perform(PATIENT, "Compares open tickets with runs").findEndedRuns();
  for (const run of ended) {
    await perform(SEALING, `Escalates ${run.ticket_id} and seals it`).sealEndedRun(run);
  }
  await perform(PATIENT, "Removes test services without a test").removeStrayTestServices();
  const forsaken = await perform(PATIENT, "Compares pending approvals with their workflows")
    .findEndedApprovals();
  for (const approval of forsaken) {
    await perform(SEALING, `Lets ${approval.approval_id} expire and seals it`)
      .expireEndedApproval(approval);
  }
  const calls = await perform(PATIENT, "Seals what became of calls whose process has ended")
    .settleLostCalls();
  await perform(PATIENT, "Delivers votes that no approval has received").deliverWaitingVotes();
  return { sealed: ended.length + forsaken.length + calls };
}

/** Keeps the one sequencer running. Its id is `ledger-sequencer`. */
export async function ledgerSequencer(): Promise<void> {
  while (!workflowInfo().continueAsNewSuggested) {
    try {
      await perform(STANDING, "Seals what waits in the outbox").runLedgerSequencer();
    } catch (error) {
      if (isCancellation(error)) throw error; // else its hour is over: another turn
    }
  }
  await continueAsNew<typeof ledgerSequencer>();
}

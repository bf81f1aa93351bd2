import { LONG, perform, SEAL } from "./_options.ts";

/**
 * Finds and seals what was ended from outside: runs with an open ticket, approvals that are still pending, calls whose
 * process was killed, mail, articles, and commands for devices. Also removes stray test services and delivers votes that were not delivered.
 */
export async function reconcileRuns(): Promise<{ readonly sealed: number }> {
  const runs = await perform(LONG, "Compares open tickets with runs").findEndedRuns();
  for (const run of runs) {
    await perform(SEAL, `Escalates ${run.ticket_id} and seals it`).sealEndedRun(run);
  }
  await perform(LONG, "Removes test services without a test").removeStrayTestServices();
  const approvals = await perform(LONG, "Compares pending approvals with their workflows")
    .findEndedApprovals();
  for (const approval of approvals) {
    await perform(SEAL, `Lets ${approval.approval_id} expire and seals it`)
      .expireEndedApproval(approval);
  }
  const calls = await perform(LONG, "Seals the end of calls whose process was killed")
    .settleLostCalls();
  await perform(LONG, "Delivers votes that no approval has received").deliverWaitingVotes();
  const mails = await perform(LONG, "Ends mail whose workflow was ended").settleEndedMails();
  const commands = await perform(LONG, "Ends commands whose workflow was ended")
    .settleEndedCommands();
  const articles = await perform(LONG, "Ends articles whose workflow was ended")
    .settleEndedArticles();
  return { sealed: runs.length + approvals.length + calls + mails + commands + articles };
}

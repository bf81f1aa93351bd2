import { LONG, perform, QUICK } from "./_options.ts";
import { ifPresent } from "./_place.ts";

/**
 * Ends and seals what was left open: calls whose process was killed, and whatever the run that was to end it does no more.
 * Also removes stray test services and delivers votes that were not delivered.
 */
export async function reconcileRuns(): Promise<{ readonly sealed: number }> {
  for (const { place } of await perform(QUICK, "Lists the places").listSweepPlaces()) {
    await ifPresent(
      place,
      LONG,
      "Removes test services without a test",
      (here) => here.removeStrayTestServices(),
    );
  }
  const calls = await perform(LONG, "Seals the end of calls whose process was killed")
    .settleLostCalls();
  await perform(LONG, "Delivers votes that no approval has received").deliverWaitingVotes();
  const acts = await perform(LONG, "Ends what is open and has no run any more").settleOpenActs();
  return { sealed: calls + acts };
}

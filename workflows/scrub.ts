import { continueAsNew, setCurrentDetails, workflowInfo } from "@temporalio/workflow";
import type { ScrubPass, ScrubResult } from "../ledger/mod.ts";
import { PATIENT, perform } from "./_options.ts";

/**
 * Verifies the whole ledger from its stored bytes: one pass. A schedule starts one after the other.
 *
 * How far a pass is, and in its result what it knows of the chain for the next one, is kept here, so that nobody who can
 * write to the ledger's database can make a pass leave something out, or forget an end that was cut off.
 *
 * @param under a pass that goes on in this run
 */
export async function scrubLedger(under?: ScrubPass): Promise<ScrubResult> {
  let pass = under ??
    await perform(PATIENT, "Compares the ledger with what was known of it").beginScrub();
  while (pass.place.position < pass.size) {
    const { place, size, found } = pass;
    setCurrentDetails(
      `**pass ${pass.pass}** · ${place.position} of ${size} receipts · ${found} breaks`,
    );
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof scrubLedger>(pass);
    pass = await perform(PATIENT, `Verifies receipts from position ${place.position}`)
      .scrubPart(pass);
  }
  const result = await perform(PATIENT, "Compares the head, and says what has healed")
    .endScrub(pass);
  setCurrentDetails(
    `**pass ${pass.pass}** · ${result.verified} receipts · ${result.breaks} breaks`,
  );
  return result;
}

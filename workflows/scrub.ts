import { continueAsNew, setCurrentDetails, workflowInfo } from "@temporalio/workflow";
import type { ScrubPass, ScrubResult } from "../activities/mod.ts";
import { LONG, perform } from "./_options.ts";

/**
 * Verifies the whole ledger from its stored bytes: one pass. A schedule starts one after the other.
 *
 * The progress of a pass, and in its result the chain as it was seen, are kept by Temporal: whoever can write to the
 * ledger's database can't make a pass skip a part, or hide that the end of the chain was cut off.
 *
 * @param begun a pass that continues in this run
 */
export async function scrubLedger(begun?: ScrubPass): Promise<ScrubResult> {
  let pass = begun ?? await perform(LONG, "Compares the ledger with the last pass").beginScrub();
  while (pass.place.position < pass.size) {
    const { place: { position }, size, found } = pass;
    setCurrentDetails(`**pass ${pass.pass}** · ${position} of ${size} receipts · ${found} breaks`);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof scrubLedger>(pass);
    pass = await perform(LONG, `Verifies receipts from position ${position}`).scrubPart(pass);
  }
  const result = await perform(LONG, "Compares the head, and clears breaks that are repaired")
    .endScrub(pass);
  const { verified, breaks } = result;
  setCurrentDetails(`**pass ${pass.pass}** · ${verified} receipts · ${breaks} breaks`);
  return result;
}

import { setCurrentDetails } from "@temporalio/workflow";
import type { HeldCallResult } from "../contract/domain/mod.ts";
import { perform, REPAIR } from "./_options.ts";
import { currentRun } from "./_run.ts";

/**
 * Runs one call that people have approved, with exactly the arguments that they saw, and at most once. Its id is
 * `act-<approval id>`, and it has one run for ever.
 */
export async function governedAct(
  { approval_id }: { readonly approval_id: string },
): Promise<HeldCallResult> {
  const result = await perform(REPAIR, `Runs the call that ${approval_id} allows`)
    .runHeldCall({ approval_id, run: currentRun() });
  setCurrentDetails(`**${result.state}**${result.error ? ` · ${result.error}` : ""}`);
  return result;
}

import { setCurrentDetails, workflowInfo } from "@temporalio/workflow";
import type { HeldCallResult } from "../domain/mod.ts";
import { perform, REPAIR } from "./_options.ts";

/**
 * Runs one call that people have approved, with exactly the arguments that they saw, and at most once. Its id is
 * `act-<approval id>`, and there is one run of it for ever.
 */
export async function governedAct(
  { approval_id }: { readonly approval_id: string },
): Promise<HeldCallResult> {
  const { workflowId, runId } = workflowInfo();
  const result = await perform(REPAIR, `Runs what ${approval_id} allows`)
    .runHeldCall({ approval_id, run: { workflow_id: workflowId, run_id: runId } });
  setCurrentDetails(`**${result.state}**${result.error ? ` · ${result.error}` : ""}`);
  return result;
}

import { z } from "zod";
import {
  mapTemporalErrors,
  operation,
  type Platform,
  refuseOtherTenants,
  runOwner,
} from "../../calls/mod.ts";
import { noRun, notNoted } from "../../calls/recover/mod.ts";
import { type LostCall, Problem, type Recovery } from "../../contract/mod.ts";
import { getCallEffects, noteCallEffects } from "../../store/calls/mod.ts";
import { WorkflowId } from "../schemas/mod.ts";
import { exampleRun, withWorkflow } from "./_run.ts";

/** Ids of workflows that callers may cancel. */
const CANCELLABLE = /^(loop|test|sweep|command)-/;

/** Cancels a run of the loop. */
export const cancelWorkflow = operation({
  name: "workflows.cancel",
  group: "workflows",
  summary: "Request the cancellation of a running workflow",
  description:
    "Only for loops, test incidents, sweeps and commands for devices of your tenant. A command that its device may have goes " +
    "on. Keys of tier admin cancel those of other tenants as well.",
  effect: "run",
  access: "partner",
  input: z.object({ workflow_id: WorkflowId }),
  output: z.object({ workflow_id: z.string(), cancel_requested: z.literal(true) }),
  rest: { workflow_cancel: "POST /v1/workflows/{workflow_id}/cancel" },
  presentation: { errors: ["NotFound", "Forbidden", "Unavailable"] },
  governance: { rule: "key-decides", humanControl: true, ownerOf: runOwner },
  durability: { recover: recoverCancellation },
  example: {
    input: { workflow_id: exampleRun.workflow_id },
    output: { workflow_id: exampleRun.workflow_id, cancel_requested: true },
  },
  run: async ({ workflow_id }, context) => {
    if (!CANCELLABLE.test(workflow_id)) {
      throw new Problem(
        "Forbidden",
        `Cannot cancel ${workflow_id}: only loops, test incidents, sweeps and commands can be cancelled, as the platform needs the ` +
          "other workflows",
      );
    }
    const { store, caller, decisionId } = context;
    await withWorkflow(context, workflow_id, async (handle) => {
      const run = await handle.describe();
      refuseOtherTenants(context, run);
      const ids = { workflow_id, run_id: run.runId };
      await noteCallEffects(store.asTenant(caller.tenant), decisionId, ids);
      await handle.cancel();
    });
    return { workflow_id, cancel_requested: true as const };
  },
});

/** Recovers a lost call, by one look at the run. Whoever else has asked for its cancellation, this call would change nothing more. */
async function recoverCancellation(call: LostCall, platform: Platform): Promise<Recovery> {
  const effect = await getCallEffects(platform.store.db, call.decisionId);
  if (!effect) return notNoted(call);
  const { ids } = effect;
  const workflow_id = ids.workflow_id!;
  const missing = new Problem("NotFound", `There is no workflow ${workflow_id}`);
  const handle = (await platform.temporal()).workflow.getHandle(workflow_id, ids.run_id);
  try {
    const { raw } = await mapTemporalErrors(handle.describe(), () => missing);
    if (!raw.workflowExtendedInfo?.cancelRequested) return { state: "not_done" };
    const output = { workflow_id, cancel_requested: true };
    return { state: "done", ids, output };
  } catch (error) {
    if (error === missing) return noRun(workflow_id, call);
    throw error;
  }
}

import { randomUUID } from "node:crypto";
import type { Client } from "@temporalio/client";
import { z } from "zod";
import { operation, type Platform, refuseOtherTenants, runOwner } from "../../calls/mod.ts";
import { findMarkedRun, noRun, notNoted } from "../../calls/recover/mod.ts";
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
      refuseOtherTenants(context, await handle.describe());
      await noteCallEffects(store.asTenant(caller.tenant), decisionId, { workflow_id });
      await requestCancellation(await context.temporal(), workflow_id, decisionId);
    });
    return { workflow_id, cancel_requested: true as const };
  },
});

/** Requests the cancellation. The decision is the reason in the run's history, by which a lost call is recovered. */
async function requestCancellation(
  client: Client,
  workflowId: string,
  decisionId: string | undefined,
): Promise<void> {
  const { namespace, identity } = client.options;
  await client.workflowService.requestCancelWorkflowExecution({
    namespace,
    identity,
    requestId: randomUUID(),
    workflowExecution: { workflowId },
    ...(decisionId ? { reason: decisionId } : {}),
  });
}

/** Recovers a lost call. Temporal ignores a second request, so a run whose history names another decision was not cancelled by this call. */
async function recoverCancellation(call: LostCall, platform: Platform): Promise<Recovery> {
  const effect = await getCallEffects(platform.store.db, call.decisionId);
  if (!effect) return notNoted(call);
  const workflow_id = effect.ids.workflow_id!;
  const run = await findMarkedRun(platform, workflow_id, call);
  if (!run) return noRun(workflow_id, call);
  const ids = { workflow_id, run_id: run.runId };
  return { state: "done", ids, output: { workflow_id, cancel_requested: true } };
}

import { CancellationScope, executeChild, ParentClosePolicy } from "@temporalio/workflow";
import { type AttackRequest, type AttackResult, ATTRIBUTE } from "../contract/domain/mod.ts";
import { DRILL, perform, QUICK } from "./_options.ts";
import { inheritTenant } from "./_run.ts";
import { itsmLoop } from "./itsm_loop.ts";

/** Attacks a sandbox for real, waits until a detector sees it, and lets the loop contain and seal it. */
export async function attackSimulation(request: AttackRequest): Promise<AttackResult> {
  try {
    const { service } = await perform(DRILL, "Opens a sandbox").openSandbox(request);
    const finding = await perform(DRILL, `Attacks the sandbox: ${request.scenario}`)
      .attackSandbox({ ...request, service });
    const result = await executeChild(itsmLoop, {
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: [{ key: ATTRIBUTE.service, value: service }, inheritTenant()],
    });
    const counts = await perform(DRILL, "Counts what the attack did").countAttack({ service });
    return { ...result, scenario: request.scenario, service, found: finding.code, counts };
  } finally {
    await CancellationScope.nonCancellable(() =>
      perform(QUICK, "Removes the sandbox").removeSandbox(request)
    );
  }
}

import { CancellationScope, executeChild, ParentClosePolicy } from "@temporalio/workflow";
import { type AttackRequest, type AttackResult, ATTRIBUTE } from "../contract/domain/mod.ts";
import { DRILL, QUICK } from "./_options.ts";
import { at, findPlace } from "./_place.ts";
import { inheritTenant } from "./_run.ts";
import { itsmLoop } from "./itsm_loop.ts";

/** Attacks a sandbox for real, waits until a detector sees it, and lets the loop contain and seal it. */
export async function attackSimulation(request: AttackRequest): Promise<AttackResult> {
  const place = await findPlace();
  try {
    const { service } = await at(
      place,
      DRILL,
      "Opens a sandbox",
      (here) => here.openSandbox(request),
    );
    const finding = await at(
      place,
      DRILL,
      `Attacks the sandbox: ${request.scenario}`,
      (here) => here.attackSandbox({ ...request, service }),
    );
    const result = await executeChild(itsmLoop, {
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: [{ key: ATTRIBUTE.service, value: service }, inheritTenant()],
    });
    const counts = await at(
      place,
      DRILL,
      "Counts what the attack did",
      (here) => here.countAttack({ service }),
    );
    return { ...result, scenario: request.scenario, service, found: finding.code, counts };
  } finally {
    await CancellationScope.nonCancellable(() =>
      at(place, QUICK, "Removes the sandbox", (here) => here.removeSandbox(request))
    );
  }
}

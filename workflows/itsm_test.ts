import { CancellationScope, executeChild, ParentClosePolicy } from "@temporalio/workflow";
import {
  type LoopResult,
  type Scenario,
  startAttributes,
  type TestRequest,
} from "../domain/mod.ts";
import { perform, QUICK, SET_UP } from "./_options.ts";
import { itsmLoop } from "./itsm_loop.ts";

/** Starts a small real service, breaks it, and lets the loop find and heal it. */
export async function itsmTest(
  request: TestRequest,
): Promise<LoopResult & { scenario: Scenario; service: string }> {
  try {
    const { service } = await perform(SET_UP, "Starts a small service")
      .prepareTestService(request);
    const finding = await perform(SET_UP, `Breaks it: ${request.scenario}`)
      .breakTestService({ ...request, service });
    const result = await executeChild(itsmLoop, {
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: startAttributes(finding),
    });
    return { ...result, scenario: request.scenario, service };
  } finally {
    await CancellationScope.nonCancellable(() =>
      perform(QUICK, "Removes the service").removeTestService(request)
    );
  }
}

import { CancellationScope, executeChild, ParentClosePolicy } from "@temporalio/workflow";
import {
  type LoopResult,
  type Scenario,
  startAttributes,
  type TestRequest,
} from "../contract/domain/mod.ts";
import { DRILL, QUICK } from "./_options.ts";
import { at, findPlace } from "./_place.ts";
import { inheritTenant } from "./_run.ts";
import { itsmLoop } from "./itsm_loop.ts";

/** Result of a test incident. */
export interface TestResult extends LoopResult {
  readonly scenario: Scenario;
  readonly service: string;
}

/** Starts a small real service, breaks it, and lets the loop find and heal it. */
export async function itsmTest(request: TestRequest): Promise<TestResult> {
  const place = await findPlace();
  try {
    const { service } = await at(
      place,
      DRILL,
      "Starts a test service",
      (here) => here.prepareTestService(request),
    );
    const finding = await at(
      place,
      DRILL,
      `Breaks the test service: ${request.scenario}`,
      (here) => here.breakTestService({ ...request, service }),
    );
    const result = await executeChild(itsmLoop, {
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: [...startAttributes(finding), inheritTenant()],
    });
    return { ...result, scenario: request.scenario, service };
  } finally {
    await CancellationScope.nonCancellable(() =>
      at(place, QUICK, "Removes the test service", (here) => here.removeTestService(request))
    );
  }
}

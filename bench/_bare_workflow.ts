/** The least that six steps can cost: a workflow of six activities that do nothing. */
import { proxyActivities } from "@temporalio/workflow";

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: "20s" });

/** Does nothing, six times. */
export async function bare(): Promise<void> {
  for (let step = 0; step < 6; step++) await nothing();
}

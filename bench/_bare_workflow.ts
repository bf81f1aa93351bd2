/** The least that six steps can cost: a workflow of six activities that do nothing. */
import { proxyActivities, proxyLocalActivities } from "@temporalio/workflow";

interface Activities {
  doNothing(): Promise<void>;
}

const OPTIONS = { startToCloseTimeout: "20s" } as const;

/** Ways to call an activity. */
const CALLS = {
  plain: proxyActivities<Activities>(OPTIONS),
  notEager: proxyActivities<Activities>({ ...OPTIONS, allowEagerDispatch: false }),
  local: proxyLocalActivities<Activities>(OPTIONS),
};

/** The way in which the activities are called. */
export type ActivityCall = keyof typeof CALLS;

/** Calls an activity that does nothing, six times. */
export async function bare(call: ActivityCall = "plain"): Promise<void> {
  for (let step = 0; step < 6; step++) await CALLS[call].doNothing();
}

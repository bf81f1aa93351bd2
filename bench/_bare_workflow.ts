/** The least that six steps can cost: a workflow of six activities that do nothing. */
import { proxyActivities, proxyLocalActivities } from "@temporalio/workflow";

interface Activities {
  nothing(): Promise<void>;
}

const OPTIONS = { startToCloseTimeout: "20s" } as const;

/** How its activities are called. */
const CALLS = {
  plain: proxyActivities<Activities>(OPTIONS),
  notEager: proxyActivities<Activities>({ ...OPTIONS, allowEagerDispatch: false }),
  local: proxyLocalActivities<Activities>(OPTIONS),
};

/** A way to call them. */
export type Kind = keyof typeof CALLS;

/** Does nothing, six times. */
export async function bare(kind: Kind = "plain"): Promise<void> {
  for (let step = 0; step < 6; step++) await CALLS[kind].nothing();
}

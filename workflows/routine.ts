import {
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { everySignal, nowSignal, type Routine, type RoutineName } from "../contract/domain/mod.ts";
import { reconcileRuns } from "./housekeeping.ts";
import { itsmSweep } from "./itsm_sweep.ts";
import { tellDue } from "./notice.ts";

/** The work of each routine. */
const WORK: Readonly<Record<RoutineName, () => Promise<object>>> = {
  sweep: () => itsmSweep(),
  reconcile: reconcileRuns,
  notices: tellDue,
};

/**
 * Does the work of a routine at each multiple of its interval, and at once where a signal asks for it: never twice at the same
 * time. A time that passes while it works is left out, and of those that passed while no worker ran, one is made up for. Its
 * id is `routine-<name>`.
 *
 * Where its work fails, the run fails with it, for people to see; the worker starts it again for the next time.
 */
export async function routine({ name, every_seconds }: Routine): Promise<void> {
  let every = every_seconds;
  let isAsked = false;
  setHandler(nowSignal, () => void (isAsked = true));
  setHandler(everySignal, (seconds) => void (every = seconds));
  let last = "";
  while (isAsked || !workflowInfo().continueAsNewSuggested) {
    const next = nextTime(every);
    setCurrentDetails(`**next** ${new Date(next).toISOString()}${last}`);
    const waited = every;
    const until = condition(() => isAsked || every !== waited, next - Date.now(), {
      summary: `The next ${name}`,
    });
    if (await until && !isAsked) continue; // the interval has changed
    isAsked = false;
    const begun = new Date().toISOString();
    const result = await WORK[name]();
    last = ` · **last** ${begun} ${describe(result)}`;
  }
  await continueAsNew<typeof routine>({ name, every_seconds: every });
}

/** Returns the next time, milliseconds since 1970. */
function nextTime(everySeconds: number): number {
  const everyMs = everySeconds * 1_000;
  return (Math.floor(Date.now() / everyMs) + 1) * everyMs;
}

/** Describes a result by its counts alone. */
function describe(result: object): string {
  return Object.entries(result).filter(([, value]) => typeof value === "number")
    .map(([name, count]) => `· ${name} ${count}`).join(" ");
}

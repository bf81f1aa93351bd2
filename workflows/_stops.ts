import { sleep } from "@temporalio/workflow";
import type { ActiveStop, Finding } from "../domain/mod.ts";
import { perform, QUICK } from "./_options.ts";
import type { Track } from "./_track.ts";

/** Longest wait for a stop to be removed; then the run is left to people. */
const MAX_HOLD_MS = 60 * 60_000;
/** Pauses between two reads of the stops; they double from the first to the last. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/** Does work that a stop may hold back, and repeats it each time the stop is removed. */
export async function retryWhileStopped<T extends { readonly held?: ActiveStop }>(
  run: Track,
  finding: Finding,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + MAX_HOLD_MS;
  let pauseMs = FIRST_PAUSE_MS;
  let result = await work();
  while (result.held) {
    run.showStop(result.held);
    let stop: ActiveStop | null = result.held;
    while (stop && Date.now() < deadline) {
      await sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      stop = await perform(QUICK, "Reads whether it is still stopped").getRepairStop(finding);
    }
    run.showStop(undefined);
    if (stop) return result;
    result = await work();
  }
  return result;
}

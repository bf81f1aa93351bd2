import { sleep } from "@temporalio/workflow";
import type { RepairHold, RepairSubject } from "../contract/domain/mod.ts";
import { perform, QUICK } from "./_options.ts";
import type { Track } from "./_track.ts";

/**
 * Longest wait for a stop to be removed; then the run is left to people. A maintenance window is waited for to its end, and
 * the guardrails until they can be asked.
 */
const MAX_STOPPED_MS = 60 * 60_000;
/** Pauses between two looks; they double from the first to the last. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = { stop: 60_000, maintenance: 15 * 60_000, guardrails: 5 * 60_000 };

/**
 * Does work that a stop or a maintenance window may hold back, or guardrails that can't be asked, and repeats it each time the
 * hold has ended. Whether the guardrails are back, the work itself finds out.
 */
export async function retryWhileHeld<T extends { readonly held?: RepairHold }>(
  run: Track,
  subject: RepairSubject,
  work: () => Promise<T>,
): Promise<T> {
  let stoppedMs = 0;
  let pauseMs = FIRST_PAUSE_MS;
  let result = await work();
  while (result.held) {
    run.showHold(result.held);
    let hold: RepairHold | null = result.held;
    while (hold && stoppedMs < MAX_STOPPED_MS) {
      const waitMs = pauseOf(hold, pauseMs);
      await sleep(waitMs);
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS.maintenance);
      if (hold.kind === "guardrails") break;
      if (hold.kind !== "maintenance") stoppedMs += waitMs;
      hold = await perform(QUICK, "Reads whether it is still held").getRepairHold(subject);
    }
    run.showHold(undefined);
    if (hold && hold.kind !== "guardrails") return result;
    result = await work();
  }
  return result;
}

/** Returns the pause before the next read, which comes soon after the end of a window. The read decides, not this clock. */
function pauseOf({ kind, until }: RepairHold, pauseMs: number): number {
  if (kind === "guardrails") return Math.min(pauseMs, MAX_PAUSE_MS.guardrails);
  if (kind !== "maintenance" || !until) return Math.min(pauseMs, MAX_PAUSE_MS.stop);
  const leftMs = Math.max(Date.parse(until) - Date.now(), 0) + FIRST_PAUSE_MS;
  return Math.min(pauseMs, leftMs);
}

import { isCancellation, workflowInfo } from "@temporalio/workflow";

/** Repeats an activity that runs in turns until the history is long enough to continue as new. */
export async function repeatTurns(turn: () => Promise<void>): Promise<void> {
  while (!workflowInfo().continueAsNewSuggested) {
    try {
      await turn();
    } catch (error) {
      if (isCancellation(error)) throw error; // otherwise the activity has timed out, and the next turn begins
    }
  }
}

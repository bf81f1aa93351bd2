import { continueAsNew } from "@temporalio/workflow";
import { perform, TURN } from "./_options.ts";
import { repeatTurns } from "./_turns.ts";

/** Keeps the activity running that starts a workflow for each queued delivery, to webhooks and to people. Its id is `relay`. */
export async function relay(): Promise<void> {
  await repeatTurns(() => perform(TURN, "Starts the queued deliveries").runRelay());
  await continueAsNew<typeof relay>();
}

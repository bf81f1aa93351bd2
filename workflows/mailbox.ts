import { continueAsNew } from "@temporalio/workflow";
import { perform, TURN } from "./_options.ts";
import { repeatTurns } from "./_turns.ts";

/** Keeps the activity running that reads the mailbox to which replies come. Its id is `mailbox`. */
export async function mailbox(): Promise<void> {
  await repeatTurns(() => perform(TURN, "Reads the mailbox of replies").readReplies());
  await continueAsNew<typeof mailbox>();
}

import { continueAsNew } from "@temporalio/workflow";
import { perform, TURN } from "./_options.ts";
import { repeatTurns } from "./_turns.ts";

/** Keeps the one sequencer running. Its id is `ledger-sequencer`. */
export async function ledgerSequencer(): Promise<void> {
  await repeatTurns(() => perform(TURN, "Seals what waits in the outbox").runLedgerSequencer());
  await continueAsNew<typeof ledgerSequencer>();
}

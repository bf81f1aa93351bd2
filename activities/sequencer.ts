import { join } from "node:path";
import { cancellationSignal, log } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import { createTimeoutSignal } from "../contract/mod.ts";
import { LogBroken, readLogSettings, type LogWriter, openLog, runSequencer } from "../ledger/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** Less than the hour that the activity is given, so that it ends by itself. */
const TURN_MS = 55 * 60_000;

/** The standing activity that seals. */
export function sequencing({ config, sequencerStore, stopping }: ActivityParts) {
  /**
   * Runs the sequencer and the Merkle log beside it for about an hour, or until this worker stops. Safe to repeat: it
   * holds the database's lock, and starts from what the database has.
   *
   * A log that contradicts what it has signed stops; the sequencer goes on, as what breaks has to be sealed too.
   *
   * @throws where this worker stops, so that another takes over
   */
  async function runLedgerSequencer(): Promise<void> {
    const end = new AbortController();
    const signal = AbortSignal.any([stopping, cancellationSignal(), createTimeoutSignal(TURN_MS)]);
    let merkleLog: LogWriter | undefined;
    const openMerkleLog = () => {
      merkleLog = openLog({
        store: sequencerStore,
        ...readLogSettings(config),
        signal: end.signal,
        onTrouble: (error) => log[error instanceof LogBroken ? "error" : "warn"](String(error)),
      });
    };
    try {
      await runSequencer({
        store: sequencerStore,
        keyFile: join(config.dataDir, "ledger.key"),
        signal,
        onStart: openMerkleLog,
        onLeaves: (...added) => merkleLog?.add(...added),
      });
    } finally {
      end.abort();
      await merkleLog?.ended;
    }
    if (stopping.aborted) throw takenOver();
  }
  return { runLedgerSequencer };
}

/** Nothing is wrong: this is how Temporal gives the activity to another worker. */
export function takenOver(): ApplicationFailure {
  return ApplicationFailure.create({
    message: "This worker stops; another one goes on from here",
    category: ApplicationFailureCategory.BENIGN,
  });
}

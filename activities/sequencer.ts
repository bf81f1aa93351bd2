import { join } from "node:path";
import { cancellationSignal } from "@temporalio/activity";
import { runSequencer } from "../ledger/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** Less than the hour that the activity is given, so that it ends by itself. */
const TURN_MS = 55 * 60_000;

/** The standing activity that seals. */
export function sequencing({ config, sequencerStore, stopping }: ActivityParts) {
  /**
   * Runs the sequencer for about an hour, or until this worker stops. Safe to repeat: it holds the database's lock,
   * and starts from what the database has.
   *
   * @throws where this worker stops, so that another takes over
   */
  async function runLedgerSequencer(): Promise<void> {
    await runSequencer({
      store: sequencerStore,
      keyFile: join(config.dataDir, "ledger.key"),
      signal: AbortSignal.any([stopping, cancellationSignal(), AbortSignal.timeout(TURN_MS)]),
    });
    if (stopping.aborted) throw new Error("This worker stops; another sequences from here on");
  }
  return { runLedgerSequencer };
}

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { log } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import {
  describeRefill,
  findSignerProblem,
  LogBroken,
  type LogWriter,
  openLog,
  readLogSettings,
  rootKeyFile,
  runSequencer,
  SealingHeld,
  type SignerProblem,
  useRootKey,
} from "../../ledger/mod.ts";
import type { Config } from "../../config.ts";
import { openJournalBlobs } from "../../integrations/blobs/mod.ts";
import type { Store } from "../../store/mod.ts";
import { createTurnSignal, workerStopping } from "../turns.ts";

/** The parts that the sequencer's activity needs. */
export interface SequencerActivityParts {
  readonly config: Config;
  /** Connected as role `sequencer`. */
  readonly store: Store;
  /** Aborted when this worker stops. */
  readonly stopping: AbortSignal;
  /** Called when this process begins to seal, and when it ends. */
  readonly onSealing?: (isSealing: boolean) => void;
  /** Called when this machine can't sign, before it takes the sequencer's turn. */
  readonly onUnable?: (problem: SignerProblem) => void;
  /** Called once receipts that the database had lost are back, with what the operator should know of it. */
  readonly onRefill?: (text: string) => void;
  /** Called when commits begin to wait for standbys, with what is missing, and with null when they go on. */
  readonly onStandbys?: (missing: string | null) => void;
}

/** Returns where the keys of the ledger and the signer's journal are. */
export function describeKeys(config: Config) {
  return {
    keyFile: join(config.dataDir, "ledger.key"),
    signerSocket: config.settings.SEALOOP_SIGNER_SOCKET,
    journal: openJournalBlobs(config),
    log: readLogSettings(config),
  };
}

/** Pause until sealing is tried again that waits for the operator. */
const HELD_PAUSE_MS = 10_000;

/** Creates the activity that runs the sequencer. */
export function sequencerActivities({
  config,
  store,
  stopping,
  onSealing = () => {},
  onUnable = () => {},
  onRefill = () => {},
  onStandbys,
}: SequencerActivityParts) {
  const keys = describeKeys(config);

  /**
   * Runs the sequencer and the Merkle log for one turn, or until this worker stops. Safe to repeat: it holds a lock in the
   * database, and begins from what the database has.
   *
   * A log that contradicts what it has signed stops. The sequencer continues, as the break has to be sealed too. Where the
   * database is behind what was signed, nothing is sealed until the operator has restored it.
   *
   * @throws {ApplicationFailure} benign: this worker stops, and another one takes over
   */
  async function runLedgerSequencer(): Promise<void> {
    const logEnd = new AbortController();
    useRootKey(store, rootKeyFile(config.dataDir));
    const signal = createTurnSignal(stopping);
    let merkleLog: LogWriter | undefined;
    try {
      const problem = await findSignerProblem({ store, ...keys });
      if (problem) {
        onUnable(problem);
        throw new SealingHeld(problem.says);
      }
      await runSequencer({
        store,
        ...keys,
        recoveryKey: config.settings.SEALOOP_LEDGER_RECOVERY_KEY,
        signal,
        requireSync: config.settings.SEALOOP_REQUIRE_SYNC,
        ...(onStandbys ? { onStandbys } : {}),
        onRefill(refill) {
          const text = describeRefill(refill);
          log.warn(text);
          onRefill(text);
        },
        onStart: () => {
          onSealing(true);
          merkleLog = openMerkleLog(logEnd.signal);
        },
        onLeaves: (...added) => merkleLog?.add(...added),
      });
    } catch (error) {
      if (error instanceof SealingHeld) {
        log.error(`Sealing is held. ${error.message}`);
        await sleep(HELD_PAUSE_MS, undefined, { signal }).catch(() => {});
        throw sealingHeld(error);
      }
      throw error;
    } finally {
      onSealing(false);
      logEnd.abort();
      await merkleLog?.ended;
    }
    if (stopping.aborted) throw workerStopping();
  }

  /** Its one line in the log is written above, so the failure is benign. */
  function sealingHeld(cause: SealingHeld): ApplicationFailure {
    const { name: type, message } = cause;
    return ApplicationFailure.create({
      type,
      message,
      cause,
      category: ApplicationFailureCategory.BENIGN,
    });
  }

  function openMerkleLog(signal: AbortSignal): LogWriter {
    return openLog({
      store,
      ...readLogSettings(config),
      signal,
      onTrouble: (error) => log[error instanceof LogBroken ? "error" : "warn"](String(error)),
    });
  }

  return { runLedgerSequencer };
}

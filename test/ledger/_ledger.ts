/** A ledger for tests, in this process: its sequencer, its Merkle log, and its public server. */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../../config.ts";
import {
  describeRefill,
  getHead,
  getPublishedCheckpoint,
  type LogWriter,
  openLog,
  openSealer,
  openSigner,
  readLogSettings,
  runSequencer,
  type Sealer,
  type SealRequest,
} from "../../ledger/mod.ts";
import { signerFolder } from "../../ledger/signer/mod.ts";
import { startLedger } from "../../processes/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { testFolder } from "../_run.ts";
import { TEST_RECOVERY_KEY, type TestDatabase, testDatabase } from "../_servers.ts";
import { eventually } from "../_time.ts";

/** Returns a request that can be sealed. */
export const anyRequest = (fields: Partial<SealRequest> = {}): SealRequest => ({
  category: "test",
  actor: "tester",
  subject: "subject",
  action: "act",
  outcome: "ok",
  ...fields,
});

/** Many receipts at once take long on a busy machine. */
const SEAL_TIMEOUT_MS = 120_000;

type Checkpoint = NonNullable<Awaited<ReturnType<typeof getPublishedCheckpoint>>>;

/** A running sequencer. */
export interface TestSealing {
  readonly database: TestDatabase;
  readonly folder: string;
  /** Key of the receipts, beside the signer's journal. */
  readonly keyFile: string;
  /** The private recovery key, as the operator is shown it. */
  readonly recoveryKey: string;
  readonly app: Store;
  readonly sealer: Sealer;
  /** Errors of the log. */
  readonly troubles: string[];
  /** What was put back in the database from the signer's journal. */
  readonly refills: string[];
  /** Seals so many receipts, in the order of their ids. @returns the ids */
  seal(count: number): Promise<string[]>;
  /** Stops sequencer and log, with the last checkpoint signed. */
  pause(): Promise<void>;
  /** Starts them again. */
  go(): void;
  /** Makes the signer forget the receipts that it has kept, though not which are committed. For a paused sequencer. */
  forgetCommitted(): Promise<void>;
  /** Makes the signer forget what it has signed beyond the database, as only the holder of its files can. */
  forgetSigned(): Promise<void>;
  /** Waits until so many receipts are sealed. @throws the error that the sequencer ended with */
  untilSealed(count: number): Promise<void>;
  /** Waits until a checkpoint of at least so many receipts is published. */
  untilPublished(count: number): Promise<Checkpoint>;
  stop(): Promise<void>;
}

/** Starts sealing on a database of its own. @param settings by the names of environment variables */
export async function startSealing(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestSealing> {
  const sealing = await prepareSealing(settings);
  sealing.go();
  return sealing;
}

/** Prepares sealing on an empty ledger, which begins with {@linkcode TestSealing.go}. */
export async function prepareSealing(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestSealing> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const app = openStore(database.urls.worker, "worker");
  const sequencer = openStore(database.urls.sequencer, "sequencer");
  const sealer = await openSealer(app);
  const logSettings = readLogSettings(loadConfig({ SEALOOP_DATA: folder, ...settings }));
  const keyFile = join(folder, "ledger.key");
  const troubles: string[] = [];
  const refills: string[] = [];
  let stop = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let log: LogWriter | undefined;
  const go = () => {
    stop = new AbortController();
    const logEnd = new AbortController();
    const { signal } = stop;
    const run = (): Promise<void> =>
      runSequencer({
        store: sequencer,
        keyFile,
        signal,
        onStart() {
          log = openLog({
            ...logSettings,
            store: sequencer,
            signal: logEnd.signal,
            onTrouble: (error) => troubles.push(String(error)),
          });
        },
        onRefill: (refill) => refills.push(describeRefill(refill)),
        onLeaves: (...added) => log?.add(...added),
      }).catch(async (error) => {
        if (error.name !== "SequencerBusy" || signal.aborted) throw error;
        await sleep(20); // the server has not ended the connection of the one before yet
        await run();
      });
    running = run().finally(() => {
      logEnd.abort();
      return log?.ended;
    });
    running.catch(() => {});
  };
  const pause = async () => {
    stop.abort();
    await running.catch((error) => {
      if (error.name !== "SealingHeld") throw error;
    });
  };
  let made = 0;
  return {
    database,
    folder,
    keyFile,
    recoveryKey: TEST_RECOVERY_KEY,
    app,
    sealer,
    troubles,
    refills,
    async seal(count) {
      const ids = Array.from({ length: count }, () => `receipt-${String(made++).padStart(6, "0")}`);
      await Promise.all(ids.map((id) => sealer.request(anyRequest({ id }))));
      await Promise.all(ids.map((id) => sealer.sealed(id, { timeoutMs: SEAL_TIMEOUT_MS })));
      return ids;
    },
    pause,
    go,
    async forgetCommitted() {
      const signer = await openSigner(keyFile); // begins another generation, with the state alone
      await signer.close();
      const kept = (await readdir(signerFolder(keyFile))).filter((name) =>
        /^committed-/.test(name)
      );
      await Promise.all(kept.map((name) => rm(join(signerFolder(keyFile), name))));
    },
    async forgetSigned() {
      const keyFile = join(folder, "ledger.key");
      const key = await readFile(keyFile);
      await Promise.all([
        rm(keyFile),
        rm(join(folder, "signer"), { recursive: true }),
        rm(join(folder, "checkpoint"), { force: true }),
      ]);
      const signer = await openSigner(keyFile);
      const { size, hash } = await getHead(app);
      await signer.startFrom({ size, hash: Buffer.from(hash, "hex") });
      await signer.close();
      await writeFile(keyFile, key);
    },
    async untilSealed(count) {
      const there = async () => {
        while ((await getHead(app)).size < count) await sleep(10);
      };
      await Promise.race([running, there()]);
    },
    untilPublished: (count) =>
      eventually(async () => {
        const checkpoint = await getPublishedCheckpoint(app);
        return checkpoint && checkpoint.size >= count ? checkpoint : undefined;
      }).catch((error) => {
        throw new Error(`No checkpoint of ${count}: ${troubles.join("; ")}`, { cause: error });
      }),
    async stop() {
      await pause();
      await sealer.close();
      await Promise.all([app.close(), sequencer.close()]);
      await database.drop();
    },
  };
}

/** Serves the public ledger of a database. */
export async function serveLedger(
  { urls }: Pick<TestDatabase, "urls">,
  settings: Readonly<Record<string, string>> = {},
) {
  const parts = {
    config: loadConfig({ SEALOOP_DATA: await testFolder(), ...settings }),
    log: createLog("ledger", "silent"),
    databaseUrl: (role: keyof TestDatabase["urls"]) => urls[role],
  };
  return await startLedger(parts, 0);
}

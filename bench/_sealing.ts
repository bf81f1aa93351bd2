/** Sealing as the platform does it: callers in this process, the sequencer in another, PostgreSQL with fsync. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { openSealer, type Sealer } from "../ledger/mod.ts";
import { openStore } from "../store/mod.ts";
import { program } from "../test/_programs.ts";
import { testFolder } from "../test/_run.ts";
import { testDatabase } from "../test/_servers.ts";
import { runConcurrently } from "./_work.ts";

/** Number of callers at once; each requests one receipt at a time. */
export const CALLERS = 256;
const CONNECTIONS = 20;
/** Makes a receipt of about 900 bytes. */
const PAD = "x".repeat(560);

/** A ledger to seal in. */
export interface Sealing {
  readonly sealer: Sealer;
  readonly superuserUrl: string;
  /** Returns the mean length of the records so far, bytes. */
  measureRecord(): Promise<number>;
  /** Seals so many receipts; each caller waits until its receipt is part of the chain. */
  seal(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Parts of sealing that a measurement can leave out. */
export interface SealingOptions {
  /** The Merkle log. Default: true. */
  readonly withLog?: boolean;
  /** Waiting until the signer's journal is on the disk. Default: true. */
  readonly withFlush?: boolean;
}

/** Opens a ledger on a database of its own. */
export async function openSealing(options: SealingOptions = {}): Promise<Sealing> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const sequencer = await startSequencer(database.urls.sequencer, folder, options);
  const store = openStore(database.urls.worker, "worker", CONNECTIONS);
  const sealer = await openSealer(store);
  const seal = async (count: number) => {
    await runConcurrently(count, CALLERS, () => sealOne(sealer));
  };
  await seal(CALLERS);
  return {
    sealer,
    superuserUrl: database.superuserUrl,
    async measureRecord() {
      const row = await store.asPlatform().first(
        "SELECT avg(length(record))::int AS bytes FROM receipts",
      );
      return row!.bytes;
    },
    seal,
    async close() {
      await sealer.close();
      await store.close();
      await stopSequencer(sequencer);
      await database.drop();
    },
  };
}

/** Starts a sequencer in a process of its own. An early end is printed, as its callers would wait for ever. */
export async function startSequencer(
  databaseUrl: string,
  folder: string,
  { withLog = true, withFlush = true }: SealingOptions = {},
): Promise<ChildProcess> {
  const parts = [...(withLog ? ["log"] : []), ...(withFlush ? ["flush"] : [])];
  const args = [databaseUrl, folder, ...parts];
  const child = fork(await program("bench/_sequencer_program.ts"), args, { execArgv: [] });
  child.once("exit", (code) => {
    if (child.connected || code !== 0) console.error(`The sequencer ended with ${code}`);
  });
  return child;
}

/** Stops a sequencer. */
export async function stopSequencer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  if (child.connected) child.disconnect();
  await ended;
}

/** Requests a receipt, and waits until it is part of the chain. */
export async function sealOne(sealer: Sealer): Promise<void> {
  const { id } = await sealer.request({
    category: "bench",
    actor: "bench",
    subject: "subject",
    action: "seal",
    outcome: "ok",
    details: { pad: PAD },
  });
  await sealer.sealed(id);
}

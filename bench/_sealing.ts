/** Sealing as the house does it: callers in this process, the sequencer in another, PostgreSQL with fsync. */
import { type ChildProcess, fork } from "node:child_process";
import { testFolder } from "../test/_run.ts";
import { testDatabase } from "../test/_servers.ts";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openSealer, type Sealer } from "../ledger/mod.ts";
import { openStore } from "../store/mod.ts";

/** How many ask at once, each for one receipt at a time. */
export const CALLERS = 256;
/** Makes a receipt of about 900 bytes. */
const PAD = "x".repeat(560);

/** A ledger to seal in. */
export interface Sealing {
  readonly sealer: Sealer;
  readonly superuserUrl: string;
  /** Mean length of the records so far. */
  bytes(): Promise<number>;
  /** Seals as many; each caller waits until its receipt is part of the chain. */
  seal(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens one on a database of its own. */
export async function openSealing({ withLog = true } = {}): Promise<Sealing> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const sequencer = startSequencer(database.urls.sequencer, folder, withLog);
  const store = openStore(database.urls.app, "app", 20);
  const sealer = await openSealer(store);
  await sealMany(sealer, CALLERS);
  return {
    sealer,
    superuserUrl: database.superuserUrl,
    async bytes() {
      const { rows } = await store.pool.query(
        "SELECT avg(length(record))::int AS bytes FROM receipts",
      );
      return rows[0].bytes;
    },
    seal: (count) => sealMany(sealer, count),
    async close() {
      await sealer.close();
      await store.close();
      await stopSequencer(sequencer);
      await database.drop();
    },
  };
}

/** Starts the sequencer in a process of its own. When that ends early, waiting for it would never end. */
export function startSequencer(url: string, folder: string, withLog: boolean): ChildProcess {
  const script = fileURLToPath(new URL("./_sequencer.ts", import.meta.url));
  const child = fork(script, [url, folder, withLog ? "with-log" : "without-log"], {
    execArgv: ["--import", "tsx"],
  });
  child.once("exit", (code) => {
    if (child.connected || code !== 0) console.error(`The sequencer ended with ${code}`);
  });
  return child;
}

/** Stops it. */
export async function stopSequencer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  if (child.connected) child.disconnect();
  await ended;
}

async function sealMany(sealer: Sealer, count: number): Promise<void> {
  let left = count;
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    while (left-- > 0) await sealOne(sealer);
  }));
}

/** Seals one receipt, and waits for it. */
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

/** How many a second. */
export async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return count / ((performance.now() - started) / 1000);
}

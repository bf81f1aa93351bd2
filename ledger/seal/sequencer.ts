import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Db, Store } from "../../store/mod.ts";
import { readSignedSize } from "../log/mod.ts";
import type { Hash } from "../rules/mod.ts";
import { openSigner, type SignerOptions } from "../signer/mod.ts";
import { readHead } from "./_append.ts";
import { type Alarm, listenForRequests } from "./_alarm.ts";
import { keepLease, type Lease } from "./_lease.ts";
import { ensureOwnKey, type KeyOptions, nextKeyFile, rotateIfAsked } from "./_own_keys.ts";
import { listKeys, mayBegin } from "./_own_receipts.ts";
import { runPipeline } from "./_pipeline.ts";
import { reconcile } from "./_reconcile.ts";
import type { Refill } from "./_refill.ts";
import {
  openStandbyGate,
  type StandbyGate,
  type StandbyOptions,
  StandbysMissing,
} from "./_standbys.ts";
import { removeHold, storeTrouble, toHold } from "./_trouble.ts";

/** Another sequencer holds the lock. */
class SequencerBusy extends Error {
  override readonly name = "SequencerBusy";
}

/** Options of {@linkcode runSequencer}. */
export interface SequencerOptions extends KeyOptions, StandbyOptions {
  /** A store of role `sequencer`. */
  readonly store: Store;
  /** Ends the work after the batches that are under way. */
  readonly signal: AbortSignal;
  /** Called once receipts that the database had lost are back, before anything else is sealed. */
  readonly onRefill?: (refill: Refill) => void;
  /** Called once the lock is held, before anything is sealed. */
  readonly onStart?: () => void;
  /** Called after each batch, and now and then while there is nothing to do. */
  readonly onProgress?: (size: number) => void;
  /** Called with the leaves of the Merkle log that a batch has added, once it is committed. */
  readonly onLeaves?: (position: number, leaves: readonly Hash[]) => void;
  /** True to take no lock. For the test that shows that the head alone prevents a fork. */
  readonly withoutLock?: boolean;
  readonly signer?: SignerOptions;
  /** Milliseconds without a word after which PostgreSQL ends the session with the lock. Default: 10,000. */
  readonly leaseMs?: number;
}

/** Key of the advisory lock that a sequencer holds. */
export const SEQUENCER_LOCK = 7_365_616_102;
const HANG_UP_TIMEOUT_MS = 1_000;
const ROTATION_POLL_MS = 1_000;

/**
 * Seals what waits in the outbox, batch after batch, until the signal ends it.
 *
 * While one batch is committed the next is read, linked and signed. Batches commit one after another, on the connection
 * that holds the lock; each moves the chain's head from where it must be. So a second sequencer can't fork the chain
 * even if the lock failed, and a crash loses nothing and seals nothing twice. The lock ends within seconds where nothing is
 * heard of this process. It begins with what the signer has signed
 * and the database does not have. A new ledger begins with a receipt that names its keys. Where a file
 * `<keyFile>.next` holds another key, the sequencer hands over to that between two batches.
 *
 * @throws {SequencerBusy} another sequencer is at work
 * @throws {SealingHeld} the operator has to do something first; the message says what
 * @throws whatever the database throws: start again
 */
export async function runSequencer(options: SequencerOptions): Promise<void> {
  const { store, signal } = options;
  const writer = await store.connect();
  const reader = await store.connect().catch(async (error) => {
    await hangUp(writer);
    throw error;
  });
  const connectionLost = new Promise<never>((_, reject) => {
    for (const client of [writer, reader]) client.on("error", reject);
  });
  connectionLost.catch(() => {}); // handled in the race below
  let lease: Lease | undefined;
  try {
    lease = await keepLease(writer, options.leaseMs);
    if (!options.withoutLock) await takeSequencerLock(writer);
    const alarm = await listenForRequests(reader, signal);
    const standbys = openStandbyGate(writer, options, signal);
    let isStarted = false;
    const onStart = () => {
      if (!isStarted) options.onStart?.();
      isStarted = true;
    };
    do {
      await sealWithOneKey({
        ...options,
        onStart,
        writer,
        reader,
        alarm,
        standbys,
        connectionLost,
      });
    } while (!signal.aborted);
  } catch (error) {
    if (error instanceof SequencerBusy) throw error; // the other one's troubles count
    if (error instanceof StandbysMissing) return; // its turn has ended; what was signed is committed in the next
    const trouble = toHold(error) ?? error;
    await storeTrouble(writer, trouble, options.keyFile).catch(() => {}); // the database may be away
    throw trouble;
  } finally {
    lease?.stop();
    await Promise.all([hangUp(writer), hangUp(reader)]);
  }
}

/** Parts of {@linkcode sealWithOneKey}. */
interface SealingParts extends SequencerOptions {
  readonly writer: pg.Client;
  readonly reader: pg.Client;
  readonly alarm: Alarm;
  readonly standbys: StandbyGate;
  readonly connectionLost: Promise<never>;
}

/** Seals until the signal ends it, or until the key has handed over to the next one. */
async function sealWithOneKey(parts: SealingParts): Promise<void> {
  const { writer, signal, alarm, keyFile, signerSocket: socket, journal } = parts;
  const isNew = await mayBegin(writer, await readHead(writer), await listKeys(writer));
  const signer = await openSigner(keyFile, { ...parts.signer, socket, journal, mayBegin: isNew });
  // What a process elsewhere signs with is not ours to hand over.
  const rotation = watchForFile(socket ? undefined : nextKeyFile(keyFile), alarm.ring);
  try {
    await parts.standbys();
    const checkpointSize = await readSignedSize(dirname(keyFile));
    await reconcile({ writer, signer, checkpointSize, onRefill: parts.onRefill });
    const sealing = { writer, signer, onLeaves: parts.onLeaves };
    if (!await ensureOwnKey(sealing, parts, () => parts.onStart?.())) return;
    await removeHold(writer);
    const untilRotation = AbortSignal.any([signal, rotation.signal]);
    const pipeline = runPipeline({ ...parts, signer, signal: untilRotation });
    await Promise.race([pipeline, parts.connectionLost]);
    if (signal.aborted) return;
    await parts.standbys();
    await rotateIfAsked(sealing, parts);
  } finally {
    rotation.stop();
    await signer.close();
  }
}

/** Watches for a file by polling. @param onFile called once it is there */
function watchForFile(path: string | undefined, onFile: () => void) {
  const found = new AbortController();
  const poll = setInterval(() => {
    if (path === undefined || !existsSync(path)) return;
    clearInterval(poll);
    found.abort();
    onFile();
  }, ROTATION_POLL_MS).unref();
  return { signal: found.signal, stop: () => clearInterval(poll) };
}

/** Returns true where a sequencer holds the lock. */
export async function isSequencerAtWork(db: Db): Promise<boolean> {
  const row = await db.first<{ held: boolean }>(
    `SELECT EXISTS (
       SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
       WHERE d.datname = current_database() AND locktype = 'advisory' AND granted
         AND (classid::bigint << 32) + objid::bigint = $1
     ) AS held`,
    [SEQUENCER_LOCK],
  );
  return row!.held;
}

/** Takes the lock that one sequencer at a time holds. @throws {SequencerBusy} another one holds it */
export async function takeSequencerLock(writer: pg.Client): Promise<void> {
  const { rows } = await writer.query("SELECT pg_try_advisory_lock($1) AS taken", [SEQUENCER_LOCK]);
  if (!rows[0].taken) throw new SequencerBusy("Another sequencer holds the ledger's lock");
}

/** Closes a connection. Where the server is gone, that may never end, so the socket is destroyed after a time. */
async function hangUp(client: pg.Client): Promise<void> {
  client.on("error", () => {});
  const timeout = sleep(HANG_UP_TIMEOUT_MS, undefined, { ref: false });
  await Promise.race([client.end().catch(() => {}), timeout]);
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream
    .destroy();
}

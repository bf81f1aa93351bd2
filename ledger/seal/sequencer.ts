import { setTimeout as sleep } from "node:timers/promises";
import { loadSigningKey, type SigningKey } from "../crypto/mod.ts";
import type { Hash } from "../rules/mod.ts";
import pg from "pg";
import { connectionOptions, type Store } from "../../store/mod.ts";
import { inOnePiece } from "./_bytes.ts";
import { openSigner, type Signer } from "./_signer.ts";
import {
  type ChainHead,
  leavesOf,
  link,
  type LinkedReceipt,
  type RefusedRequest,
} from "./_link.ts";
import { MOST_IN_A_BATCH, openOutbox } from "./_outbox_reader.ts";

/** Another sequencer holds the lock. */
export class SequencerBusy extends Error {
  override readonly name = "SequencerBusy";
}

/** What a sequencer needs. */
export interface SequencerOptions {
  /** Of role `sequencer`. */
  readonly store: Store;
  /** PEM file of the signing key; made where there is none. */
  readonly keyFile: string;
  /** Ends the work after the batch that is under way. */
  readonly signal: AbortSignal;
  /** Told once the lock is held, before anything is sealed. */
  readonly onStart?: () => void;
  /** Told after each batch, and now and then while there is nothing to do. */
  readonly onProgress?: (size: number) => void;
  /** Told of what a batch has added, as leaves of the Merkle log, once it is committed. */
  readonly onLeaves?: (position: number, leaves: readonly Hash[]) => void;
  /** Takes no lock: only for showing that the head alone prevents a fork. */
  readonly withoutLock?: boolean;
}

/** Key of the advisory lock that a sequencer holds. */
const LOCK = 7_365_616_102;
const SAFETY_POLL_MS = 1_000;
const HANG_UP_MS = 1_000;

/**
 * Takes what waits in the outbox, and makes it the next part of the chain, in batches, until it is told to end.
 *
 * While one batch is being committed the next is read, linked and signed. Batches commit on one connection, one
 * after the other, which also holds the lock; each moves the head from where it must be. So a second sequencer
 * can't fork the chain even if the lock failed, and a crash loses nothing and doubles nothing.
 *
 * @throws {SequencerBusy} another one is at work
 * @throws whatever the database throws: start again, from what it holds
 */
export async function runSequencer(options: SequencerOptions): Promise<void> {
  const { store, signal } = options;
  const key = loadSigningKey(options.keyFile);
  const writer = new pg.Client(connectionOptions(store.url, store.role));
  const reader = new pg.Client(connectionOptions(store.url, store.role));
  const broken = new Promise<never>((_, reject) => {
    for (const client of [writer, reader]) client.on("error", reject);
  });
  broken.catch(() => {}); // looked at in the race below
  let signer: Signer | undefined;
  try {
    await Promise.all([writer.connect(), reader.connect()]);
    if (!options.withoutLock) await takeLock(writer);
    await registerKey(writer, key);
    options.onStart?.();
    signer = openSigner(key.privateKey);
    const alarm = await alarmOn(reader, "sealoop_outbox", signal);
    await Promise.race([pipeline({ ...options, writer, reader, key, signer, alarm }), broken]);
  } finally {
    await Promise.all([hangUp(writer), hangUp(reader), signer?.close()]);
  }
}

/** Ends a connection; one whose server has gone may never say that it has ended. */
async function hangUp(client: pg.Client): Promise<void> {
  client.on("error", () => {});
  await Promise.race([client.end().catch(() => {}), sleep(HANG_UP_MS, undefined, { ref: false })]);
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream
    .destroy();
}

async function takeLock(writer: pg.Client): Promise<void> {
  const { rows } = await writer.query("SELECT pg_try_advisory_lock($1) AS taken", [LOCK]);
  if (!rows[0].taken) throw new SequencerBusy("Another sequencer holds the ledger's lock");
}

async function readHead(client: pg.Client): Promise<ChainHead> {
  const { rows: [row] } = await client.query("SELECT size, hash FROM ledger_head");
  return { size: Number(row.size), hash: row.hash };
}

/** The key is trusted from the position on at which it starts to sign. */
async function registerKey(writer: pg.Client, { publicKey }: SigningKey): Promise<void> {
  await writer.query(
    `INSERT INTO ledger_keys (from_position, public_key)
     SELECT size, $1 FROM ledger_head
     WHERE $1 IS DISTINCT FROM (SELECT public_key FROM ledger_keys ORDER BY n DESC LIMIT 1)`,
    [publicKey],
  );
}

/** Waits for what is to be looked at. */
interface Alarm {
  /** Until the next notification, the safety poll, the end, or {@linkcode Alarm.ring}. */
  wait(): Promise<void>;
  ring(): void;
}

async function alarmOn(client: pg.Client, channel: string, signal: AbortSignal): Promise<Alarm> {
  let rung = false;
  let wake = () => {};
  const ring = () => {
    rung = true;
    wake();
  };
  client.on("notification", ring);
  signal.addEventListener("abort", ring);
  await client.query(`LISTEN ${channel}`);
  return {
    ring,
    async wait() {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, SAFETY_POLL_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
    },
  };
}

interface Pipeline extends SequencerOptions {
  readonly writer: pg.Client;
  readonly reader: pg.Client;
  readonly key: SigningKey;
  readonly signer: Signer;
  readonly alarm: Alarm;
}

/** A batch that is being signed or committed. */
interface Batch {
  readonly seqs: readonly string[];
  readonly done: Promise<void>;
}

/** Most batches on their way at once: one is committed, one is signed, and the next is read and linked. */
const MOST_UNDER_WAY = 2;

async function pipeline(
  { writer, reader, key, signer, alarm, signal, onProgress, onLeaves }: Pipeline,
): Promise<void> {
  let head = await readHead(writer);
  const read = openOutbox(reader);
  const underWay: Batch[] = []; // oldest first
  let failed: { readonly reason: unknown } | undefined;
  while (!signal.aborted) {
    if (failed) throw failed.reason;
    if (underWay.length > MOST_UNDER_WAY) await underWay[0]!.done;
    const waiting = await read(underWay.flatMap(({ seqs }) => seqs));
    if (waiting.length === 0) {
      if (underWay.length === 0) onProgress?.(head.size);
      await alarm.wait();
      continue;
    }
    const { linked, refused, head: after } = link(waiting, head);
    const signing = signer.sign(linked.map(({ record }) => record));
    signing.catch(() => {}); // awaited below
    const [before, previous] = [head, underWay.at(-1)?.done];
    const done = (async () => {
      const signatures = await signing;
      await previous;
      await commit(writer, before, linked, signatures, refused);
      onProgress?.(after.size);
      onLeaves?.(before.size, leavesOf(linked, signatures, key.publicKey));
      underWay.shift();
    })();
    done.catch((reason) => {
      failed = { reason };
      alarm.ring();
    });
    underWay.push({ seqs: waiting.map(({ seq }) => seq), done });
    head = after;
    if (waiting.length < MOST_IN_A_BATCH) await alarm.wait(); // or what has come since would be a batch of its own
  }
  await Promise.all(underWay.map(({ done }) => done));
}

async function commit(
  writer: pg.Client,
  head: ChainHead,
  linked: readonly LinkedReceipt[],
  signatures: readonly Buffer[],
  refused: readonly RefusedRequest[],
): Promise<void> {
  if (refused.length > 0) await setAside(writer, refused);
  if (linked.length === 0) return;
  await writer.query({
    name: "append",
    text: "SELECT append_receipts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    values: [
      head.size,
      head.hash,
      linked.map((r) => r.id),
      linked.map((r) => r.category),
      Buffer.concat(linked.map((r) => r.hash)),
      Buffer.concat(signatures),
      ...inOnePiece(linked.map((r) => r.record)),
      linked.map((r) => r.seq),
    ],
  });
}

async function setAside(
  writer: pg.Client,
  refused: readonly RefusedRequest[],
): Promise<void> {
  await writer.query(
    `WITH gone AS (DELETE FROM seal_outbox WHERE seq = ANY ($1::bigint[])), said AS (
       INSERT INTO seal_refusals (id, reason) SELECT * FROM unnest($2::text[], $3::text[])
       ON CONFLICT (id) DO NOTHING
     ) SELECT pg_notify('sealoop_sealed', '')`,
    [refused.map((r) => r.seq), refused.map((r) => r.id), refused.map((r) => r.reason)],
  );
}

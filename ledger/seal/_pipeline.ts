import type pg from "pg";
import type { Hash } from "../rules/mod.ts";
import type { Alarm } from "./_alarm.ts";
import {
  type ChainHead,
  computeLeaves,
  link,
  type LinkedReceipt,
  type OutboxEntry,
  type RefusedEntry,
} from "./_link.ts";
import type { Signer } from "./_signer.ts";

/** Parts of {@linkcode runPipeline}. */
export interface PipelineParts {
  /** Connection that commits. */
  readonly writer: pg.Client;
  readonly reader: pg.Client;
  readonly signer: Signer;
  readonly alarm: Alarm;
  readonly publicKey: Buffer;
  /** Ends the work after the batches that are under way. */
  readonly signal: AbortSignal;
  /** Called after each batch, and now and then while there is nothing to do. */
  readonly onProgress?: ((size: number) => void) | undefined;
  /** Called with the leaves of the Merkle log that a batch has added, once it is committed. */
  readonly onLeaves?: ((position: number, leaves: readonly Hash[]) => void) | undefined;
}

/** A batch that is being signed or committed. */
interface Batch {
  readonly seqs: readonly string[];
  readonly done: Promise<void>;
}

const MAX_BATCH_SIZE = 256;
/** Batches under way while the next one is read: one being committed, one being signed. */
const MAX_BATCHES_UNDER_WAY = 2;

const READ_OUTBOX = {
  name: "outbox_read",
  text: `SELECT seq, id, payload FROM seal_outbox WHERE seq <> ALL ($1::bigint[])
         ORDER BY seq LIMIT ${MAX_BATCH_SIZE}`,
};
const APPEND = {
  name: "append",
  text: "SELECT append_receipts($1, $2, $3, $4, $5, $6, $7, $8)",
};
const REFUSE = {
  name: "refuse",
  text: `WITH removed AS (
           DELETE FROM seal_outbox WHERE seq = ANY ($1::bigint[])
         ), refused AS (
           INSERT INTO seal_refusals (id, reason) SELECT * FROM unnest($2::text[], $3::text[])
           ON CONFLICT (id) DO NOTHING
         )
         SELECT pg_notify('sealoop_sealed', '')`,
};

/**
 * Seals batch after batch until the signal ends it.
 *
 * @throws whatever the database throws; batches that were not committed are still in the outbox
 */
export async function runPipeline(parts: PipelineParts): Promise<void> {
  const { writer, reader, signer, alarm, signal, onProgress, onLeaves, publicKey } = parts;
  let head = await readHead(writer);
  const batches: Batch[] = []; // oldest first
  let failure: { readonly error: unknown } | undefined;

  /** Signs a linked batch and commits it after those before it. */
  async function seal(
    before: ChainHead,
    linked: readonly LinkedReceipt[],
    refused: readonly RefusedEntry[],
    previous: Promise<void> | undefined,
  ): Promise<void> {
    const signing = signer.sign(linked.map(({ record }) => record));
    signing.catch(() => {}); // awaited below
    await previous;
    const signatures = await signing;
    if (refused.length > 0) await refuse(writer, refused);
    if (linked.length > 0) await append(writer, before, linked, signatures);
    onProgress?.(before.size + linked.length);
    onLeaves?.(before.size, computeLeaves(linked, signatures, publicKey));
    batches.shift();
  }

  while (!signal.aborted) {
    if (failure) throw failure.error;
    if (batches.length > MAX_BATCHES_UNDER_WAY) await batches[0]!.done;
    const entries = await readOutbox(reader, batches.flatMap(({ seqs }) => seqs));
    if (entries.length === 0) {
      if (batches.length === 0) onProgress?.(head.size);
      await alarm.wait();
      continue;
    }
    const { linked, refused, head: after } = link(entries, head);
    const done = seal(head, linked, refused, batches.at(-1)?.done);
    done.catch((error) => {
      failure = { error };
      alarm.ring();
    });
    batches.push({ seqs: entries.map(({ seq }) => seq), done });
    head = after;
    if (entries.length < MAX_BATCH_SIZE) await alarm.wait(); // lets requests gather
  }
  await Promise.all(batches.map(({ done }) => done));
}

async function readHead(client: pg.Client): Promise<ChainHead> {
  const { rows: [row] } = await client.query("SELECT size, hash FROM ledger_head");
  return { size: Number(row.size), hash: row.hash };
}

/** Reads the oldest entries that are in no batch under way. */
async function readOutbox(
  client: pg.Client,
  underWay: readonly string[],
): Promise<OutboxEntry[]> {
  const { rows } = await client.query<OutboxEntry>({ ...READ_OUTBOX, values: [underWay] });
  return rows;
}

async function append(
  writer: pg.Client,
  head: ChainHead,
  linked: readonly LinkedReceipt[],
  signatures: readonly Buffer[],
): Promise<void> {
  await writer.query({
    ...APPEND,
    values: [
      head.size,
      head.hash,
      linked.map((receipt) => receipt.id),
      linked.map((receipt) => receipt.category),
      linked.map((receipt) => receipt.hash),
      linked.map((receipt) => receipt.record),
      signatures,
      linked.map((receipt) => receipt.seq),
    ],
  });
}

/** Moves entries that can't be sealed from the outbox to the refusals. */
async function refuse(writer: pg.Client, refused: readonly RefusedEntry[]): Promise<void> {
  await writer.query({
    ...REFUSE,
    values: [
      refused.map((entry) => entry.seq),
      refused.map((entry) => entry.id),
      refused.map((entry) => entry.reason),
    ],
  });
}

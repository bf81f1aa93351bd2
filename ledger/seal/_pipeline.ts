import type pg from "pg";
import { LIST_ENROLMENTS, toEnrolments } from "../receipts/mod.ts";
import type { Hash } from "../rules/mod.ts";
import { type ChainHead, getHeadAfter, type Signer } from "../signer/mod.ts";
import type { Alarm } from "./_alarm.ts";
import type { StandbyGate } from "./_standbys.ts";
import { appendReceipts, readHead } from "./_append.ts";
import {
  computeLeaves,
  link,
  type LinkedReceipt,
  type OutboxEntry,
  type RefusedEntry,
} from "./_link.ts";

/** Parts of {@linkcode runPipeline}. */
export interface PipelineParts {
  /** Connection that commits. */
  readonly writer: pg.Client;
  readonly reader: pg.Client;
  readonly signer: Signer;
  readonly alarm: Alarm;
  /** Waited for before each commit. */
  readonly standbys: StandbyGate;
  /** Ends the work after the batches that are under way. */
  readonly signal: AbortSignal;
  /** Called after each batch, and now and then while there is nothing to do. */
  readonly onProgress?: ((size: number) => void) | undefined;
  /** Called with the leaves of the Merkle log that a batch has added, once it is committed. */
  readonly onLeaves?: ((position: number, leaves: readonly Hash[]) => void) | undefined;
}

/** A batch that is being signed or committed. */
interface BatchUnderWay {
  readonly entries: readonly OutboxEntry[];
  readonly done: Promise<void>;
}

const MAX_BATCH_SIZE = 256;
/** Batches under way while the next one is read: one being committed, one being signed. */
const MAX_BATCHES_UNDER_WAY = 2;

/** Looks each id up. With `EXISTS`, PostgreSQL may read all receipts into a hash table at every look. */
const READ_OUTBOX = {
  name: "outbox_read",
  text: `SELECT seq, id, category, payload, at,
           coalesce((SELECT true FROM receipts r WHERE r.id = o.id), false) AS "isSealed"
         FROM seal_outbox o WHERE seq <> ALL ($1::bigint[]) ORDER BY seq LIMIT ${MAX_BATCH_SIZE}`,
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
  const { writer, reader, signer, alarm, standbys, signal, onProgress, onLeaves } = parts;
  let head = await readHead(writer);
  const enrolled = new Set((await readEnrolments(reader)).keys());
  const batches: BatchUnderWay[] = []; // oldest first
  let failure: { readonly error: unknown } | undefined;

  /** Signs a linked batch and commits it after those before it. */
  async function seal(
    before: ChainHead,
    linked: readonly LinkedReceipt[],
    { refused, repeated }: Unsealed,
    previous: Promise<void> | undefined,
  ): Promise<void> {
    const batch = { before, receipts: linked };
    const signing = linked.length > 0 ? signer.sign(batch) : undefined;
    signing?.catch(() => {}); // awaited below
    await previous;
    const signed = await signing;
    await standbys();
    if (refused.length + repeated.length > 0) await removeUnsealed(writer, { refused, repeated });
    if (signed) {
      await appendReceipts(writer, batch, signed, linked.map(({ seq }) => seq));
      signer.acknowledge(getHeadAfter(batch));
      onLeaves?.(before.size, computeLeaves(linked, signed));
    }
    onProgress?.(before.size + linked.length);
    batches.shift();
  }

  while (!signal.aborted) {
    if (failure) throw failure.error;
    if (batches.length > MAX_BATCHES_UNDER_WAY) await batches[0]!.done;
    const underWay = batches.flatMap(({ entries }) => entries);
    const entries = await readOutbox(reader, underWay.map(({ seq }) => seq));
    if (entries.length === 0) {
      if (batches.length === 0) onProgress?.(head.size);
      await alarm.wait();
      continue;
    }
    const { first, repeated } = separateRepeated(entries, underWay);
    const { linked, refused, head: after } = link(first, head, enrolled);
    const done = seal(head, linked, { refused, repeated }, batches.at(-1)?.done);
    done.catch((error) => {
      failure = { error };
      alarm.ring();
    });
    batches.push({ entries, done });
    head = after;
    if (entries.length < MAX_BATCH_SIZE) await alarm.wait(); // lets requests gather
  }
  await Promise.all(batches.map(({ done }) => done));
}

/** An entry as it is read. */
type StoredEntry = OutboxEntry & { readonly isSealed: boolean };

/** Entries that are removed from the outbox without a receipt. */
interface Unsealed {
  readonly refused: readonly RefusedEntry[];
  /** Their receipts are part of the chain, or about to be. */
  readonly repeated: readonly OutboxEntry[];
}

/** Reads where places are enrolled. */
async function readEnrolments(client: pg.Client): Promise<Map<string, number>> {
  return toEnrolments((await client.query(LIST_ENROLMENTS)).rows);
}

/** Reads the oldest entries that are in no batch under way. */
async function readOutbox(
  client: pg.Client,
  underWay: readonly string[],
): Promise<StoredEntry[]> {
  const { rows } = await client.query<StoredEntry>({ ...READ_OUTBOX, values: [underWay] });
  return rows;
}

/**
 * Separates entries whose id has a receipt already. The database refuses them, and what was signed can't be taken back.
 * No caller can request an id twice, but a database that was put back to an older state has requests that are sealed.
 */
function separateRepeated(
  entries: readonly StoredEntry[],
  underWay: readonly OutboxEntry[],
): { first: OutboxEntry[]; repeated: OutboxEntry[] } {
  const ids = new Set(underWay.map(({ id }) => id));
  const first: OutboxEntry[] = [];
  const repeated: OutboxEntry[] = [];
  for (const entry of entries) {
    (entry.isSealed || ids.has(entry.id) ? repeated : first).push(entry);
    ids.add(entry.id);
  }
  return { first, repeated };
}

/** Removes entries from the outbox; those that can't be sealed are moved to the refusals. */
async function removeUnsealed(
  writer: pg.Client,
  { refused, repeated }: Unsealed,
): Promise<void> {
  await writer.query({
    ...REFUSE,
    values: [
      [...refused, ...repeated].map((entry) => entry.seq),
      refused.map((entry) => entry.id),
      refused.map((entry) => entry.reason),
    ],
  });
}

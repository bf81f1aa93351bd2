/**
 * The least that a sealed record can cost on this machine: link its bytes to the record before, sign, insert, in batches
 * of one transaction each, where one batch is signed while the one before is committed. It has no outbox, no requests,
 * no callers that wait, and one table with one index.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { formatBinaryCopy } from "./_binary_copy.ts";

const BATCH = 500;
const signAsync = promisify(sign) as (a: null, data: Uint8Array, key: KeyObject) => Promise<Buffer>;

/** A record that knows the hash of the one before. */
interface LinkedRecord {
  readonly position: number;
  readonly record: Buffer;
  readonly hash: Buffer;
}
type Sign = (records: readonly LinkedRecord[]) => Promise<Buffer[]> | Buffer[];
type Insert = (
  client: pg.Client,
  records: readonly LinkedRecord[],
  signatures: readonly Buffer[],
) => Promise<void>;

const { privateKey } = generateKeyPairSync("ed25519");
const signHere: Sign = (records) => records.map(({ record }) => sign(null, record, privateKey));
const signInPool: Sign = (records) =>
  Promise.all(records.map(({ record }) => signAsync(null, record, privateKey)));

/** Ways to sign and insert, by their labels. Which is the fastest depends on the machine. */
const FORMS: Readonly<Record<string, readonly [Sign, Insert]>> = {
  "multi-row insert, signing on the main thread": [signHere, insertRows],
  "COPY, signing on the main thread": [signHere, copyRows],
  "multi-row insert, signing in the thread pool": [signInPool, insertRows],
  "COPY, signing in the thread pool": [signInPool, copyRows],
};

/** A bare sealer in one of the forms. */
export interface BareSealer {
  readonly form: string;
  /** Seals so many records. */
  seal(count: number): Promise<void>;
}

/**
 * Opens a sealer of each form. They share a connection and a table.
 *
 * @param url of the database, as superuser
 * @param bytes length of a record
 */
export async function openBareSealers(url: string, bytes: number) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "CREATE TABLE bare (position bigint PRIMARY KEY, hash bytea, record bytea, signature bytea)",
  );
  let position = 0;
  let previous = "0".repeat(64);
  const details = JSON.stringify({ pad: "x".repeat(bytes - 120) });

  function link(count: number): LinkedRecord[] {
    return Array.from({ length: count }, () => {
      const record = Buffer.from(
        `{"details":${details},"position":${position},"prev":"${previous}"}`,
      );
      const hash = createHash("sha256").update(record).digest();
      previous = hash.toString("hex");
      return { position: position++, record, hash };
    });
  }

  const sealers = Object.entries(FORMS).map(([form, [sign, insert]]): BareSealer => ({
    form,
    async seal(count) {
      let committing: Promise<void> = Promise.resolve();
      for (let left = count; left > 0; left -= BATCH) {
        const records = link(Math.min(BATCH, left));
        const signatures = await sign(records);
        await committing;
        committing = insert(client, records, signatures);
        committing.catch(() => {}); // it is awaited after the next batch is signed
      }
      await committing;
    },
  }));
  return { sealers, close: () => client.end() };
}

async function insertRows(
  client: pg.Client,
  records: readonly LinkedRecord[],
  signatures: readonly Buffer[],
): Promise<void> {
  const rows = records.map((_, n) => `($${n * 4 + 1},$${n * 4 + 2},$${n * 4 + 3},$${n * 4 + 4})`);
  await client.query({
    name: `bare_insert_${records.length}`,
    text: `INSERT INTO bare VALUES ${rows.join(",")}`,
    values: records.flatMap(({ position, hash, record }, n) => [
      position,
      hash,
      record,
      signatures[n],
    ]),
  });
}

async function copyRows(
  client: pg.Client,
  records: readonly LinkedRecord[],
  signatures: readonly Buffer[],
): Promise<void> {
  const rows = records.map(({ position, hash, record }, n) => [
    BigInt(position),
    hash,
    record,
    signatures[n]!,
  ]);
  const copy = client.query(copyFrom("COPY bare FROM STDIN (FORMAT binary)"));
  await pipeline(Readable.from([formatBinaryCopy(rows)]), copy);
}

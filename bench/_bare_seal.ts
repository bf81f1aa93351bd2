/**
 * The least that a sealed record can cost on this machine: take its bytes, link them to the record before, sign,
 * insert, in batches of one transaction each, the next batch being signed while one is committed. No outbox, no
 * requests, nobody who waits, one table with one index.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { binaryRows } from "./_copy.ts";

const BATCH = 500;
const signAsync = promisify(sign) as (a: null, data: Uint8Array, key: KeyObject) => Promise<Buffer>;

interface Linked {
  readonly position: number;
  readonly record: Buffer;
  readonly hash: Buffer;
}
type Sign = (linked: readonly Linked[]) => Promise<Buffer[]> | Buffer[];
type Insert = (client: pg.Client, linked: readonly Linked[], signatures: Buffer[]) => Promise<void>;

const { privateKey } = generateKeyPairSync("ed25519");
const here: Sign = (linked) => linked.map(({ record }) => sign(null, record, privateKey));
const aside: Sign = (linked) =>
  Promise.all(linked.map(({ record }) => signAsync(null, record, privateKey)));

/** The forms that were tried, by what they are. */
const FORMS: Readonly<Record<string, readonly [Sign, Insert]>> = {
  "multi-row insert, signing on the main thread": [here, insertRows],
  "COPY, signing on the main thread": [here, copyRows],
  "multi-row insert, signing in the thread pool": [aside, insertRows],
  "COPY, signing in the thread pool": [aside, copyRows],
};

/** A bare sealer in one of its forms. */
export interface BareSealer {
  readonly form: string;
  /** Seals as many records. */
  seal(count: number): Promise<void>;
}

/** Opens one sealer a form, each with a connection and a table of its own. @param bytes length of a record */
export async function openBareSealers(url: string, bytes: number) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "CREATE TABLE bare (position bigint PRIMARY KEY, hash bytea, record bytea, signature bytea)",
  );
  let position = 0;
  let previous = "0".repeat(64);
  const rest = JSON.stringify({ pad: "x".repeat(bytes - 120) });

  function link(count: number): Linked[] {
    return Array.from({ length: count }, () => {
      const record = Buffer.from(`{"details":${rest},"position":${position},"prev":"${previous}"}`);
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
        const linked = link(Math.min(BATCH, left));
        const signatures = await sign(linked);
        await committing;
        committing = insert(client, linked, signatures);
        committing.catch(() => {}); // awaited at the next turn
      }
      await committing;
    },
  }));
  return { sealers, close: () => client.end() };
}

async function insertRows(client: pg.Client, linked: readonly Linked[], signatures: Buffer[]) {
  await client.query({
    name: `bare_insert_${linked.length}`,
    text: `INSERT INTO bare VALUES ${
      linked.map((_, n) => `($${n * 4 + 1},$${n * 4 + 2},$${n * 4 + 3},$${n * 4 + 4})`).join(",")
    }`,
    values: linked.flatMap(({ position, hash, record }, n) => [
      position,
      hash,
      record,
      signatures[n],
    ]),
  });
}

async function copyRows(client: pg.Client, linked: readonly Linked[], signatures: Buffer[]) {
  const bytes = binaryRows(
    linked.map(({ position, hash, record }, n) => [BigInt(position), hash, record, signatures[n]!]),
  );
  const copy = client.query(copyFrom("COPY bare FROM STDIN (FORMAT binary)"));
  await pipeline(Readable.from([bytes]), copy);
}

/** Changes that a superuser can make to a stored chain of 300 receipts. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type pg from "pg";
import { canonicalize } from "../../../ledger/mod.ts";

/** A change by a superuser, and the break that it must cause. */
export interface Fault {
  readonly name: string;
  apply(client: pg.Client): Promise<unknown>;
  readonly at: number;
  readonly check: string;
  readonly reason: RegExp;
  /** Number of breaks; default: 1. */
  readonly breaks?: number;
}

const sql = (text: string) => (client: pg.Client) => client.query(text);

/** Changes, and the breaks that the scrub must report. */
export const FAULTS: readonly Fault[] = [
  {
    name: "an edited record",
    apply: sql(`UPDATE receipts SET record = convert_to(replace(convert_from(record, 'UTF8'),
      '"outcome":"ok"', '"outcome":"no"'), 'UTF8') WHERE position = 100`),
    at: 100,
    check: "hash",
    reason: /hash is not that of the canonical bytes/,
  },
  {
    name: "an edited record with a new hash",
    apply: sql(`UPDATE receipts SET record = r, hash = sha256(r) FROM (
        SELECT convert_to(replace(convert_from(record, 'UTF8'), '"ok"', '"no"'), 'UTF8') AS r
        FROM receipts WHERE position = 100) AS edited WHERE position = 100`),
    at: 100,
    check: "signature",
    reason: /signature does not verify/,
    breaks: 2,
  },
  {
    name: "a record that is not JSON",
    apply: sql(`UPDATE receipts SET record = '\\x00ff7b' WHERE position = 100`),
    at: 100,
    check: "hash",
    reason: /./,
    breaks: 2,
  },
  {
    name: "a removed row",
    apply: sql("DELETE FROM receipts WHERE position = 100"),
    at: 100,
    check: "missing",
    reason: /^Missing$/,
    breaks: 2,
  },
  {
    name: "a removed beginning",
    apply: sql("DELETE FROM receipts WHERE position < 100"),
    at: 0,
    check: "missing",
    reason: /^Missing, with all up to 99$/,
    breaks: 2,
  },
  {
    name: "two rows swapped",
    apply: sql(`UPDATE receipts SET position = 1000 WHERE position = 100;
      UPDATE receipts SET position = 100 WHERE position = 200;
      UPDATE receipts SET position = 200 WHERE position = 1000`),
    at: 100,
    check: "link",
    reason: /prev_hash.*|chain_position is 200/,
    breaks: 4,
  },
  {
    name: "a receipt signed by another key",
    apply: (client) => resign(client, "position = 100", generateKeyPairSync("ed25519").privateKey),
    at: 100,
    check: "signature",
    reason: /signature does not verify/,
  },
  {
    name: "another id in the row",
    apply: sql("UPDATE receipts SET id = 'another' WHERE position = 100"),
    at: 100,
    check: "columns",
    reason: /column id differs/,
  },
  {
    name: "another category in the row",
    apply: sql("UPDATE receipts SET category = 'another' WHERE position = 100"),
    at: 100,
    check: "columns",
    reason: /column category differs/,
  },
  {
    name: "another hash in the row",
    apply: sql("UPDATE receipts SET hash = sha256('x') WHERE position = 100"),
    at: 100,
    check: "hash",
    reason: /hash is not that/,
    breaks: 2,
  },
  {
    name: "another era in the row",
    apply: sql("UPDATE receipts SET era = 1 WHERE position = 100"),
    at: 100,
    check: "hash",
    reason: /./,
    breaks: 2,
  },
  {
    name: "a head with a smaller size",
    apply: sql(`UPDATE ledger_head SET size = 299`),
    at: 298,
    check: "head",
    reason: /head is not the hash/,
    breaks: 2,
  },
  {
    name: "a head with another hash",
    apply: sql("UPDATE ledger_head SET hash = sha256('x')"),
    at: 299,
    check: "head",
    reason: /head is not the hash/,
  },
  {
    name: "a truncated end",
    apply: sql(`DELETE FROM receipts WHERE position >= 250; UPDATE ledger_head SET size = 250,
      hash = (SELECT hash FROM receipts WHERE position = 249)`),
    at: 250,
    check: "missing",
    reason: /with all after it/,
  },
  {
    name: "another entry in the Merkle log",
    apply: sql(
      `UPDATE log_tiles SET hashes = set_byte(hashes, 100 * 32, 255 - get_byte(hashes, 3200))
      WHERE level = 0`,
    ),
    at: 100,
    check: "log",
    reason: /Merkle log has another/,
  },
];

/** Signs rows with a key. */
export async function resign(client: pg.Client, where: string, key: KeyObject): Promise<void> {
  const { rows } = await client.query(`SELECT position, record FROM receipts WHERE ${where}`);
  for (const { position, record } of rows) {
    await client.query("UPDATE receipts SET signature = $1 WHERE position = $2", [
      sign(null, record, key),
      position,
    ]);
  }
}

/** Writes the whole chain anew, with a genesis of a new key, and publishes that in place of the ledger's. */
export async function replaceKey(client: pg.Client): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  const { rows } = await client.query("SELECT position, record FROM receipts ORDER BY position");
  let hash = Buffer.alloc(0);
  for (const { position, record: old } of rows) {
    const fields = JSON.parse(old);
    fields.prev_hash = hash.toString("hex");
    if (position === "0") fields.details.ledger_key = raw.toString("hex");
    const record = Buffer.from(canonicalize(fields));
    hash = createHash("sha256").update(record).digest();
    await client.query(
      "UPDATE receipts SET record = $2, hash = $3, signature = $4 WHERE position = $1",
      [position, record, hash, sign(null, record, privateKey)],
    );
  }
  await client.query("UPDATE ledger_head SET hash = $1", [hash]);
  await client.query("UPDATE ledger_keys SET public_key = $1", [raw]);
}

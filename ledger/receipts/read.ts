import { InvalidInput } from "../../contract/mod.ts";
import { findTrustedKey, type TrustedKey } from "../rules/mod.ts";
import { shared, type Store } from "../../store/mod.ts";
import { sealedSoon } from "./_soon.ts";
import { AmbiguousReceipt, ReceiptNotFound } from "./errors.ts";

/** A receipt as the database has it. */
export interface StoredReceipt {
  readonly position: number;
  readonly id: string;
  /** Hex. */
  readonly hash: string;
  readonly category: string;
  readonly era: 1 | 2 | 3;
  /** The record as `/api/export` gives it: JSON text made from the sealed bytes, never printed again. */
  readonly text: string;
}

/** How long the chain is. */
export interface LedgerHead {
  readonly size: number;
  /** Hash of the newest receipt, hex; empty where there is none. */
  readonly hash: string;
}

interface Row {
  position: string;
  id: string;
  hash: Buffer;
  category: string;
  era: 1 | 2 | 3;
  record: Buffer;
  signature: Buffer | null;
  /** The record as it was imported, where it can't be printed from the others. */
  original: Buffer | null;
}

const COLUMNS = "position, id, hash, category, era, record, signature, original";
const SHORTEST_PREFIX = 8;
const MOST_MATCHES = 10;

/**
 * How long the chain is now. Calls that arrive together share one query; none gets an answer that is older than
 * its own question.
 */
export function getHead(store: Store): Promise<LedgerHead> {
  let ask = heads.get(store);
  if (!ask) heads.set(store, ask = shared(() => readHead(store)));
  return ask();
}

const heads = new WeakMap<Store, () => Promise<LedgerHead>>();

async function readHead({ pool }: Store): Promise<LedgerHead> {
  const { rows: [row] } = await pool.query({
    name: "head",
    text: "SELECT size, hash FROM ledger_head",
  });
  return { size: Number(row.size), hash: row.hash?.toString("hex") ?? "" };
}

/** The published keys, in the order in which they came to be trusted. */
export async function listLedgerKeys(store: Store): Promise<TrustedKey[]> {
  const { rows } = await store.pool.query(
    "SELECT from_position, public_key FROM ledger_keys ORDER BY n",
  );
  return rows.map((row) => ({
    fromPosition: Number(row.from_position),
    publicKey: row.public_key.toString("hex"),
  }));
}

/**
 * Receipts before a position, newest first.
 *
 * @param page `before` exclusive, default: the end; `limit` > 0
 */
export async function listReceipts(
  store: Store,
  page: { readonly limit: number; readonly before?: number; readonly category?: string },
): Promise<StoredReceipt[]> {
  const { limit, before = Number.MAX_SAFE_INTEGER, category } = page;
  const { rows } = await store.pool.query({
    name: category === undefined ? "page" : "page_category",
    text: `SELECT ${COLUMNS} FROM receipts WHERE position < $1
           ${category === undefined ? "" : "AND category = $3"} ORDER BY position DESC LIMIT $2`,
    values: category === undefined ? [before, limit] : [before, limit, category],
  });
  return await toStored(store, rows);
}

/**
 * Receipts of a range, oldest first.
 *
 * @param range `from` inclusive, `to` exclusive
 * @param mostBytes stops at the receipt with which the stored bytes reach this; at least one is given
 */
export async function exportReceipts(
  store: Store,
  range: { readonly from: number; readonly to: number },
  mostBytes = Number.MAX_SAFE_INTEGER,
): Promise<StoredReceipt[]> {
  const { rows } = await store.pool.query({
    name: "export",
    text: `SELECT ${COLUMNS} FROM (
             SELECT *, sum(length(record)) OVER (ORDER BY position) - length(record) AS bytes_before
             FROM receipts WHERE position >= $1 AND position < $2
           ) AS spans WHERE bytes_before < $3 ORDER BY position`,
    values: [range.from, range.to, mostBytes],
  });
  return await toStored(store, rows);
}

/**
 * One receipt, by its id or by a unique prefix of its id or hash, in any case. One that was asked for by this very id,
 * and is not part of the chain yet, is waited for.
 *
 * @throws {ReceiptNotFound} none fits
 * @throws {AmbiguousReceipt} several do
 * @throws {InvalidInput} shorter than 8 characters, and no id
 * @throws {Problem} `Unavailable`: it was asked for, and is not sealed within two seconds
 */
export async function findReceipt(store: Store, idOrPrefix: string): Promise<StoredReceipt> {
  const exact = await getReceipt(store, idOrPrefix);
  if (exact) return exact;
  if (await sealedSoon(store, idOrPrefix)) return (await getReceipt(store, idOrPrefix))!;
  const prefix = idOrPrefix.toLowerCase();
  if (prefix.length < SHORTEST_PREFIX) {
    throw new InvalidInput([{
      path: ["receipt_id"],
      msg: `No receipt has this id, and a prefix has at least ${SHORTEST_PREFIX} characters`,
      type: "string_too_short",
    }]);
  }
  const found = await byPrefix(store, prefix);
  const whole = found.filter(({ id, hash }) => id.toLowerCase() === prefix || hash === prefix);
  const matches = whole.length > 0 ? whole : found;
  if (matches.length === 0) throw new ReceiptNotFound(idOrPrefix);
  if (matches.length > 1) throw new AmbiguousReceipt(idOrPrefix, matches.map(({ id }) => id));
  return matches[0]!;
}

/** One receipt by its id as it is written, or undefined where none is sealed with it, or not yet. */
export async function getReceipt(store: Store, id: string): Promise<StoredReceipt | undefined> {
  const { rows } = await store.pool.query({
    name: "by_id",
    text: `SELECT ${COLUMNS} FROM receipts WHERE id = $1`,
    values: [id],
  });
  return (await toStored(store, rows))[0];
}

/**
 * Receipts whose id or hash begins with a prefix, a bounded number of each. Both are ranges of an index that are read in
 * its order, so that it is used whatever the planner believes of how many there are.
 *
 * @param prefix in lower case
 */
async function byPrefix(store: Store, prefix: string): Promise<StoredReceipt[]> {
  const isHex = /^[0-9a-f]{1,64}$/.test(prefix);
  const { rows } = await store.pool.query({
    name: "by_prefix",
    text: `WITH found AS MATERIALIZED (
             (SELECT position FROM receipts WHERE lower(id) ~>=~ $1 AND lower(id) ~<~ $2
                ORDER BY lower(id) USING ~<~ LIMIT ${MOST_MATCHES})
             UNION
             (SELECT position FROM receipts WHERE hash >= $3 AND hash <= $4
                ORDER BY hash LIMIT ${MOST_MATCHES})
           )
           SELECT ${COLUMNS} FROM receipts WHERE position = ANY (ARRAY(SELECT position FROM found))
           ORDER BY position LIMIT ${2 * MOST_MATCHES}`,
    values: [
      ...[prefix, prefix + LAST_CHARACTER],
      ...(isHex ? [hashBound(prefix, "0"), hashBound(prefix, "f")] : [null, null]),
    ],
  });
  return await toStored(store, rows);
}

/** Sorts behind all others. */
const LAST_CHARACTER = "\u{10ffff}";

/** The lowest (`0`) or highest (`f`) hash that begins with a prefix. */
const hashBound = (prefix: string, fill: "0" | "f") => Buffer.from(prefix.padEnd(64, fill), "hex");

/** Id of the newest receipt that says it corrects this one, or undefined. */
export async function findCorrection(store: Store, id: string): Promise<string | undefined> {
  const { rows } = await store.pool.query({
    name: "superseded_by", // materialized, or it would walk the whole chain back for the newest one
    text: `WITH newer AS MATERIALIZED (
             SELECT position, id FROM receipts
             WHERE era = 3 AND position('"supersedes":'::bytea IN record) > 0 AND supersedes_of(record) = $1
           )
           SELECT id FROM newer ORDER BY position DESC LIMIT 1`,
    values: [id],
  });
  return rows[0]?.id;
}

async function toStored(store: Store, rows: readonly Row[]): Promise<StoredReceipt[]> {
  if (rows.length === 0) return [];
  const keys = await keysFor(store, Number(rows[0]!.position), Number(rows.at(-1)!.position));
  return rows.map((row) => stored(row, keys));
}

const known = new WeakMap<Store, TrustedKey[]>();
const knownUpTo = new WeakMap<Store, number>();

/** A key is registered before anything is signed with it, so what is known up to a position stays true. */
async function keysFor(store: Store, ...positions: number[]): Promise<TrustedKey[]> {
  const newest = Math.max(...positions);
  const kept = known.get(store);
  if (kept && newest <= (knownUpTo.get(store) ?? -1)) return kept;
  const size = (await getHead(store)).size;
  const keys = await listLedgerKeys(store);
  known.set(store, keys);
  knownUpTo.set(store, size - 1);
  return keys;
}

function stored(row: Row, keys: readonly TrustedKey[]): StoredReceipt {
  const position = Number(row.position);
  const { id, category, era, record, signature } = row;
  const hash = row.hash.toString("hex");
  const text = row.original?.toString() ?? (era === 3
    ? printRecord({
      record,
      hash,
      publicKey: findTrustedKey(keys, position)?.publicKey ?? "",
      signature: signature?.toString("hex") ?? "",
    })
    : record.toString());
  return { position, id, hash, category, era, text };
}

/** A receipt of era 3 as it is kept. */
export interface StoredRecord {
  /** Canonical bytes. */
  readonly record: Buffer;
  /** All hex. */
  readonly hash: string;
  readonly publicKey: string;
  readonly signature: string;
}

/** Makes a record of the stored bytes: the payload's own text, with what is not part of it put at the end. */
export function printRecord({ record, hash, publicKey, signature }: StoredRecord): string {
  const signed = `{"algorithm":"Ed25519","public_key":"${publicKey}","value":"${signature}",` +
    `"signs":"canonical_bytes"}`;
  return `${record.toString().slice(0, -1)},"canonical_bytes":"${
    record.toString("hex")
  }","hash_sha256":"${hash}","signature":${signed}}`;
}

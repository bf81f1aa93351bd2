import { batch, type Row as DbRow, type Store } from "../../store/mod.ts";
import { type Era, findTrustedKey, type TrustedKey } from "../rules/mod.ts";
import { printRecord } from "./print_record.ts";
import { readRootKey } from "./root_key.ts";

/** A receipt in the database. */
export interface StoredReceipt {
  readonly position: number;
  readonly id: string;
  /** Hex. */
  readonly hash: string;
  readonly category: string;
  readonly era: Era;
  /** The record as `/api/export` returns it: JSON text of the sealed bytes, byte for byte. */
  readonly text: string;
}

/** The end of the chain. */
export interface LedgerHead {
  readonly size: number;
  /** Hash of the newest receipt, hex; empty where there is none. */
  readonly hash: string;
}

/** A row of the table. */
export interface Row {
  position: string;
  id: string;
  hash: Buffer;
  category: string;
  era: Era;
  record: Buffer;
  signature: Buffer | null;
  /** The record as it was imported, where it can't be printed from the others. */
  original: Buffer | null;
}

/** Columns of a {@linkcode Row}. */
export const COLUMNS = "position, id, hash, category, era, record, signature, original";
const MAX_MATCHES = 10;
/** The last code point, so that a prefix with it sorts behind all ids that begin with the prefix. */
const LAST_CHARACTER = "\u{10ffff}";

const GET_HEAD = { name: "head", text: "SELECT size, hash FROM ledger_head" };
const LIST = {
  name: "list",
  text: `SELECT ${COLUMNS} FROM receipts WHERE position < $1 ORDER BY position DESC LIMIT $2`,
};
const LIST_CATEGORY = {
  name: "list_category",
  text: `SELECT ${COLUMNS} FROM receipts WHERE position < $1 AND category = $3
         ORDER BY position DESC LIMIT $2`,
};
const EXPORT = {
  name: "export",
  text: `SELECT ${COLUMNS} FROM (
           SELECT *, sum(length(record)) OVER (ORDER BY position) - length(record) AS bytes_before
           FROM receipts WHERE position >= $1 AND position < $2
         ) AS spans WHERE bytes_before < $3 ORDER BY position`,
};
const GET = { name: "get", text: `SELECT ${COLUMNS} FROM receipts WHERE id = $1` };
/** Each half reads a range of an index in its order, so that the planner uses the index whatever it estimates. */
const LIST_BY_PREFIX = {
  name: "list_by_prefix",
  text: `WITH found AS MATERIALIZED (
           (SELECT position FROM receipts WHERE lower(id) ~>=~ $1 AND lower(id) ~<~ $2
              ORDER BY lower(id) USING ~<~ LIMIT ${MAX_MATCHES})
           UNION
           (SELECT position FROM receipts WHERE hash >= $3 AND hash <= $4
              ORDER BY hash LIMIT ${MAX_MATCHES})
         )
         SELECT ${COLUMNS} FROM receipts WHERE position = ANY (ARRAY(SELECT position FROM found))
         ORDER BY position LIMIT ${2 * MAX_MATCHES}`,
};
/** Selects the receipts of a file. Those of files that the platform published come before those that callers sealed. */
const LIST_BY_FILE = {
  name: "list_by_file",
  text: `WITH found AS MATERIALIZED (
           SELECT position FROM receipts
           WHERE era = 3 AND position('"file_sha256":'::bytea IN record) > 0 AND file_sha256_of(record) = $1
         )
         SELECT ${COLUMNS} FROM receipts WHERE position = ANY (ARRAY(SELECT position FROM found))
         ORDER BY category = 'api_seal', position LIMIT $2`,
};
/** Materialized: otherwise the planner walks the whole chain backwards to find the newest correction. */
const FIND_CORRECTION = {
  name: "find_correction",
  text: `WITH corrections AS MATERIALIZED (
           SELECT position, id FROM receipts
           WHERE era = 3 AND position('"supersedes":'::bytea IN record) > 0 AND supersedes_of(record) = $1
         )
         SELECT id FROM corrections ORDER BY position DESC LIMIT 1`,
};

const headReaders = new WeakMap<Store, () => Promise<LedgerHead>>();

/** Returns the end of the chain. Calls that arrive together share one query; no answer is older than its call. */
export async function getHead(store: Store): Promise<LedgerHead> {
  let read = headReaders.get(store);
  if (!read) {
    read = batch(async (calls: void[]) => {
      const row = (await store.asPlatform().first(GET_HEAD))!;
      const head = { size: Number(row.size), hash: row.hash?.toString("hex") ?? "" };
      return calls.map(() => head);
    });
    headReaders.set(store, read);
  }
  return await read();
}

/** Lists the published keys, in the order in which they came to be trusted. See {@linkcode toLedgerKey}. */
export const LIST_KEYS =
  "SELECT from_position, public_key, recovery_key FROM ledger_keys ORDER BY n";

/** Makes a key of a row of {@linkcode LIST_KEYS}. */
export function toLedgerKey(row: DbRow): TrustedKey {
  const recoveryKey = row.recovery_key?.toString("hex");
  return {
    fromPosition: Number(row.from_position),
    publicKey: row.public_key.toString("hex"),
    ...(recoveryKey === undefined ? {} : { recoveryKey }),
  };
}

/**
 * Returns the published keys, in the order in which they came to be trusted. The one that this platform has begun with is
 * pinned, where that is known from outside of the database.
 */
export async function listLedgerKeys(store: Store): Promise<TrustedKey[]> {
  const [rows, root] = await Promise.all([
    store.asPlatform().query(LIST_KEYS),
    readRootKey(store),
  ]);
  return rows.map(toLedgerKey).map((key) =>
    key.publicKey === root ? { ...key, isPinned: true } : key
  );
}

/**
 * Returns receipts before a position, newest first.
 *
 * @param page `before` exclusive, default: the end; `limit` > 0
 */
export async function listReceipts(
  store: Store,
  page: { readonly limit: number; readonly before?: number; readonly category?: string },
): Promise<StoredReceipt[]> {
  const { limit, before = Number.MAX_SAFE_INTEGER, category } = page;
  const db = store.asPlatform();
  const rows = category === undefined
    ? await db.query<Row>(LIST, [before, limit])
    : await db.query<Row>(LIST_CATEGORY, [before, limit, category]);
  return await toReceipts(store, rows);
}

/**
 * Returns receipts of a range, oldest first.
 *
 * @param range `from` inclusive, `to` exclusive
 * @param maxBytes stops at the receipt with which the stored bytes reach this; at least one receipt is returned
 */
export async function exportReceipts(
  store: Store,
  range: { readonly from: number; readonly to: number },
  maxBytes = Number.MAX_SAFE_INTEGER,
): Promise<StoredReceipt[]> {
  const rows = await store.asPlatform().query<Row>(EXPORT, [range.from, range.to, maxBytes]);
  return await toReceipts(store, rows);
}

/** Returns one receipt by its exact id, or undefined where none is sealed under it. */
export async function getReceipt(store: Store, id: string): Promise<StoredReceipt | undefined> {
  const rows = await store.asPlatform().query<Row>(GET, [id]);
  return (await toReceipts(store, rows))[0];
}

/**
 * Returns receipts whose id or hash begins with a prefix, a bounded number of each.
 *
 * @param prefix in lower case
 */
export async function listReceiptsByPrefix(store: Store, prefix: string): Promise<StoredReceipt[]> {
  const isHex = /^[0-9a-f]{1,64}$/.test(prefix);
  const rows = await store.asPlatform().query<Row>(LIST_BY_PREFIX, [
    prefix,
    prefix + LAST_CHARACTER,
    isHex ? Buffer.from(prefix.padEnd(64, "0"), "hex") : null,
    isHex ? Buffer.from(prefix.padEnd(64, "f"), "hex") : null,
  ]);
  return await toReceipts(store, rows);
}

/**
 * Returns receipts about a published file, by its SHA-256: what the platform has published first, then the oldest.
 *
 * @param sha256 64 lowercase hex characters
 */
export async function listReceiptsOfFile(
  store: Store,
  sha256: string,
  limit: number,
): Promise<StoredReceipt[]> {
  const rows = await store.asPlatform().query<Row>(LIST_BY_FILE, [sha256, limit]);
  return await toReceipts(store, rows);
}

/** Returns the id of the newest receipt that says it corrects this one, or undefined. */
export async function findCorrection(store: Store, id: string): Promise<string | undefined> {
  return (await store.asPlatform().first<{ id: string }>(FIND_CORRECTION, [id]))?.id;
}

/** Makes receipts of rows, in their order. */
export async function toReceipts(store: Store, rows: readonly Row[]): Promise<StoredReceipt[]> {
  if (rows.length === 0) return [];
  const newest = rows.reduce((most, { position }) => Math.max(most, Number(position)), 0);
  const keys = await listKeysUpTo(store, newest);
  return rows.map((row) => toReceipt(row, keys));
}

/** Keys that were read, with the last position for which they are complete. */
const keysRead = new WeakMap<Store, { readonly through: number; readonly keys: TrustedKey[] }>();

/** Returns the keys up to a position, which never change: a key is registered before anything is signed with it. */
async function listKeysUpTo(store: Store, position: number): Promise<TrustedKey[]> {
  const read = keysRead.get(store);
  if (read && position <= read.through) return read.keys;
  const { size } = await getHead(store);
  const keys = await listLedgerKeys(store);
  keysRead.set(store, { through: size - 1, keys });
  return keys;
}

function toReceipt(row: Row, keys: readonly TrustedKey[]): StoredReceipt {
  const position = Number(row.position);
  const { id, category, era } = row;
  const hash = row.hash.toString("hex");
  return { position, id, hash, category, era, text: printStored(row, position, hash, keys) };
}

function printStored(
  { era, record, signature, original }: Row,
  position: number,
  hash: string,
  keys: readonly TrustedKey[],
): string {
  if (original) return original.toString();
  if (era !== 3) return record.toString();
  return printRecord({
    record,
    hash,
    publicKey: findTrustedKey(keys, position)?.publicKey ?? "",
    signature: signature?.toString("hex") ?? "",
  });
}

import { createHash } from "node:crypto";
import { selectTrustedKeys } from "../crypto/mod.ts";
import {
  type ChainVerdict,
  hashFile,
  openReceiptFile,
  type ReceiptFile,
  verifyInParallel,
} from "../verify/mod.ts";
import type { TrustedKey } from "../rules/mod.ts";
import type pg from "pg";
import type { Store } from "../../store/mod.ts";
import { asRow, ImportRefused, insertRows, twice } from "./_import_rows.ts";

export { ImportRefused } from "./_import_rows.ts";

/** How far it has come. */
export interface ImportOptions {
  /** Public keys that are known to be right, hex; needed where the file names none and holds signatures. */
  readonly keys?: readonly string[];
  /** Told how many receipts have come how far, of how many where that is known. */
  readonly onProgress?: (step: "verified" | "put aside", done: number, total?: number) => void;
  readonly threads?: number;
}

/** What was taken over. */
export interface ImportResult {
  readonly total: number;
  readonly keys: readonly TrustedKey[];
  /** False where it had been done before. */
  readonly now: boolean;
}

/** Key of the advisory lock that one import at a time holds. */
const LOCK = 7_365_616_107;

/**
 * Takes over an existing ledger: verifies the whole file, puts its receipts aside in batches, and then makes them the
 * beginning of this one in a single transaction. What is killed in between goes on where it was when it is called again
 * with the same file.
 *
 * Receipts are kept and given back byte for byte, but for spaces between their tokens. Their keys are trusted from the
 * positions that the file names until the sequencer signs with its own.
 *
 * @param store of role `sequencer`
 * @throws {ImportRefused} the ledger is not empty, or what is in the file does not hold
 * @throws {BadReceiptFile} it holds no receipts
 */
export async function importLedger(
  store: Store,
  path: string,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const { onProgress = () => {} } = options;
  const file = await openReceiptFile(path);
  let client: pg.PoolClient | undefined;
  try {
    client = await store.pool.connect();
    await takeLock(client);
    const keys = selectTrustedKeys(file.envelope, options.keys ?? []);
    const sha256 = hashOf(await hashFile(path), keys);
    const begun = await beginning(client, sha256);
    if (begun?.finished) return { total: begun.size, keys, now: false };
    await refuseFilled(client);
    const size = begun?.size ?? await verify(file, keys, options);
    if (!begun) await begin(client, sha256, size);
    await setAside(client, file, keys, (done) => onProgress("put aside", done, size));
    await takeOver(client, size, keys.filter(({ fromPosition }) => fromPosition < size));
    return { total: size, keys, now: true };
  } finally {
    await file.close();
    client?.release(true); // with its lock
  }
}

/** What makes an import the same: what was verified, and with which keys. */
function hashOf(file: Buffer, keys: readonly TrustedKey[]): Buffer {
  return createHash("sha256").update(file).update(JSON.stringify(keys)).digest();
}

async function takeLock(client: pg.ClientBase): Promise<void> {
  const { rows: [row] } = await client.query("SELECT pg_try_advisory_lock($1) AS taken", [LOCK]);
  if (!row.taken) throw new ImportRefused("Another import is under way");
}

/** An import of the same that was begun before. */
async function beginning(client: pg.ClientBase, sha256: Buffer) {
  const { rows: [row] } = await client.query(
    "SELECT size, finished_at FROM ledger_import WHERE file_sha256 = $1",
    [sha256],
  );
  return row && { size: Number(row.size), finished: row.finished_at !== null };
}

async function refuseFilled(client: pg.ClientBase): Promise<void> {
  const { rows: [{ size }] } = await client.query("SELECT size FROM ledger_head");
  if (Number(size) > 0) throw filled(size);
}

const filled = (size: string) =>
  new ImportRefused(`The ledger has ${size} receipts, and only an empty one can take over another`);

async function verify(
  file: ReceiptFile,
  keys: readonly TrustedKey[],
  { onProgress, threads }: ImportOptions,
): Promise<number> {
  onProgress?.("verified", 0);
  const verdict = await verifyInParallel(file.batches(), keys, {
    threads,
    onProgress: (count) => onProgress?.("verified", count),
  });
  refuseBroken(verdict, keys);
  const { envelope: { total } } = file;
  if (typeof total === "number" && total !== verdict.total) {
    throw new ImportRefused(`There are ${verdict.total} receipts in it, and it says ${total}`);
  }
  return verdict.total;
}

function refuseBroken({ eras, breaks, firstBreaks }: ChainVerdict, keys: readonly TrustedKey[]) {
  const [first] = firstBreaks;
  if (!first) return;
  const signed = eras[1] + eras[2] > 0;
  if (signed && keys.length === 0) {
    throw new ImportRefused(
      "Receipts are signed, and the file does not name the key: give it with --key",
    );
  }
  const more = breaks > 1 ? ` (and ${breaks - 1} more)` : "";
  throw new ImportRefused(`It does not hold at position ${first.position}: ${first.reason}${more}`);
}

async function begin(client: pg.ClientBase, sha256: Buffer, size: number): Promise<void> {
  await client.query("TRUNCATE ledger_import_receipts");
  await client.query("DELETE FROM ledger_import");
  await client.query("INSERT INTO ledger_import (file_sha256, size) VALUES ($1, $2)", [
    sha256,
    size,
  ]);
}

/** Puts aside what is not there yet. */
async function setAside(
  client: pg.ClientBase,
  file: ReceiptFile,
  keys: readonly TrustedKey[],
  onProgress: (done: number) => void,
): Promise<void> {
  const { rows: [{ there }] } = await client.query(
    "SELECT count(*) AS there FROM ledger_import_receipts",
  );
  onProgress(Number(there));
  let position = 0;
  for await (const batch of file.batches()) {
    const known = Math.min(Math.max(Number(there) - position, 0), batch.length);
    const fresh = batch.slice(known).map((bytes, i) => asRow(bytes, position + known + i, keys));
    position += batch.length;
    if (fresh.length === 0) continue;
    await insertRows(client, position - fresh.length, fresh);
    onProgress(position);
  }
}

/** An id that is taken by an imported receipt is asked for by nobody else: no request has such a hash. */
const TAKEN = createHash("sha256").digest();

/** Makes what was put aside the ledger's beginning: all of it, or nothing. */
async function takeOver(
  client: pg.ClientBase,
  size: number,
  keys: readonly TrustedKey[],
): Promise<void> {
  await client.query("BEGIN");
  try {
    const { rowCount } = await client.query(
      `UPDATE ledger_head SET size = $1,
         hash = (SELECT hash FROM ledger_import_receipts WHERE position = $1 - 1)
       WHERE size = 0 AND (SELECT count(*) FROM ledger_import_receipts) = $1`,
      [size],
    );
    if (rowCount !== 1) {
      await refuseFilled(client);
      throw new ImportRefused("The file was changed while it was read");
    }
    const columns = "position, id, hash, category, era, record, signature, original";
    await client.query(
      `INSERT INTO receipts (${columns}) SELECT ${columns} FROM ledger_import_receipts ORDER BY position`,
    );
    await client.query(
      "INSERT INTO seal_requests (id, request_hash) SELECT id, $1 FROM ledger_import_receipts",
      [TAKEN],
    );
    for (const { fromPosition, publicKey } of keys) {
      await client.query("INSERT INTO ledger_keys (from_position, public_key) VALUES ($1, $2)", [
        fromPosition,
        Buffer.from(publicKey, "hex"),
      ]);
    }
    await client.query("UPDATE ledger_import SET finished_at = now()");
    await client.query("TRUNCATE ledger_import_receipts");
    await client.query("SELECT pg_notify('sealoop_sealed', $1)", [String(size)]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw twice(error) ?? error;
  }
}

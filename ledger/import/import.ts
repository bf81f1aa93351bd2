import { createHash } from "node:crypto";
import type pg from "pg";
import type { Store } from "../../store/mod.ts";
import type { TrustedKey } from "../rules/mod.ts";
import {
  type ChainVerdict,
  hashFile,
  openReceiptFile,
  readFileKeys,
  type ReceiptFile,
  verifyInParallel,
} from "../verify/mod.ts";
import { asDuplicate, ImportRefused, makeRow, stageRows } from "./_rows.ts";

/** Options of {@linkcode importLedger}. */
export interface ImportOptions {
  /** Trusted public keys, hex; needed where the file names none and holds signatures. */
  readonly keys?: readonly string[];
  /** Called with the number of receipts a step has done, and the total where it is known. */
  readonly onProgress?: (step: "verified" | "staged", done: number, total?: number) => void;
  readonly threads?: number;
}

/** Result of an import. */
export interface ImportResult {
  readonly total: number;
  readonly keys: readonly TrustedKey[];
  /** False where the same file had been imported before. */
  readonly isNew: boolean;
}

/** Key of the advisory lock that one import at a time holds. */
const LOCK = 7_365_616_107;

/**
 * Imports an existing ledger: verifies the whole file, stages its receipts in batches, and then makes them the beginning
 * of this one in a single transaction. After a crash, the next call with the same file continues where it was.
 *
 * Receipts are stored and exported byte for byte, except for spaces between their tokens. Their keys are trusted from the
 * positions that the file names, until the sequencer signs with its own key.
 *
 * @param store of role `sequencer`
 * @throws {ImportRefused} the ledger is not empty, the chain in the file is not valid, or the file was changed meanwhile
 * @throws {BadReceiptFile} the file holds no receipts
 */
export async function importLedger(
  store: Store,
  path: string,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const { onProgress = () => {} } = options;
  const file = await openReceiptFile(path);
  let client: pg.Client | undefined;
  try {
    client = await store.connect();
    await takeLock(client);
    const keys = await readFileKeys(file, options.keys ?? []);
    const fileHash = await hashFile(path);
    const importHash = hashImport(fileHash, keys);
    const begun = await findBegun(client, importHash);
    if (begun?.finished) return { total: begun.size, keys, isNew: false };
    await requireEmpty(client);
    const size = begun?.size ?? await verify(file, keys, options);
    if (!begun) await begin(client, importHash, size);
    await stage(client, file, keys, (done) => onProgress("staged", done, size));
    if (!fileHash.equals(await hashFile(path))) {
      await discard(client); // other receipts than those that were verified may be staged
      throw new ImportRefused("The file was changed while it was read; import it again");
    }
    await moveToLedger(client, size, keys.filter(({ fromPosition }) => fromPosition < size));
    return { total: size, keys, isNew: true };
  } finally {
    await file.close();
    await client?.end(); // and the lock with it
  }
}

/** Returns the identity of an import: the same file, verified with the same keys. */
function hashImport(file: Buffer, keys: readonly TrustedKey[]): Buffer {
  return createHash("sha256").update(file).update(JSON.stringify(keys)).digest();
}

async function takeLock(client: pg.ClientBase): Promise<void> {
  const { rows: [row] } = await client.query("SELECT pg_try_advisory_lock($1) AS taken", [LOCK]);
  if (!row.taken) throw new ImportRefused("Another import is under way");
}

/** Returns the state of this import where it was begun before. */
async function findBegun(client: pg.ClientBase, importHash: Buffer) {
  const { rows: [row] } = await client.query(
    "SELECT size, finished_at FROM ledger_import WHERE file_sha256 = $1",
    [importHash],
  );
  return row && { size: Number(row.size), finished: row.finished_at !== null };
}

async function requireEmpty(client: pg.ClientBase): Promise<void> {
  const { rows: [{ size }] } = await client.query("SELECT size FROM ledger_head");
  if (Number(size) > 0) {
    throw new ImportRefused(
      `The ledger has ${size} receipts, and only an empty ledger can import another`,
    );
  }
}

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
  requireUnbroken(verdict, keys);
  const { total, contradiction } = file;
  if (total !== undefined && total !== verdict.total) {
    throw new ImportRefused(
      `The file has ${verdict.total} receipts, and its field total says ${total}`,
    );
  }
  if (contradiction !== undefined) {
    throw new ImportRefused(`The file contradicts itself: ${contradiction}`);
  }
  return verdict.total;
}

function requireUnbroken({ eras, breaks, firstBreaks }: ChainVerdict, keys: readonly TrustedKey[]) {
  const [first] = firstBreaks;
  if (!first) return;
  const signed = eras[1] + eras[2] > 0;
  if (signed && keys.length === 0) {
    throw new ImportRefused(
      "Receipts are signed, and the file does not name the key: give it with --key",
    );
  }
  const more = breaks > 1 ? ` (and ${breaks - 1} more)` : "";
  throw new ImportRefused(
    `The chain does not hold at position ${first.position}: ${first.reason}${more}`,
  );
}

async function begin(client: pg.ClientBase, importHash: Buffer, size: number): Promise<void> {
  await discard(client);
  await client.query("INSERT INTO ledger_import (file_sha256, size) VALUES ($1, $2)", [
    importHash,
    size,
  ]);
}

/** Discards what is staged of any import. */
async function discard(client: pg.ClientBase): Promise<void> {
  await client.query("TRUNCATE ledger_import_receipts");
  await client.query("DELETE FROM ledger_import");
}

/** Stages the receipts that are not staged yet. */
async function stage(
  client: pg.ClientBase,
  file: ReceiptFile,
  keys: readonly TrustedKey[],
  onProgress: (done: number) => void,
): Promise<void> {
  const { rows: [{ count }] } = await client.query("SELECT count(*) FROM ledger_import_receipts");
  const staged = Number(count);
  onProgress(staged);
  let position = 0;
  for await (const batch of file.batches()) {
    const first = Math.min(Math.max(staged - position, 0), batch.length);
    const rows = batch.slice(first).map((bytes, n) => makeRow(bytes, position + first + n, keys));
    position += batch.length;
    if (rows.length === 0) continue;
    await stageRows(client, position - rows.length, rows);
    onProgress(position);
  }
}

/** Makes the staged receipts the ledger's beginning: all of them, or none. */
async function moveToLedger(
  client: pg.ClientBase,
  size: number,
  keys: readonly TrustedKey[],
): Promise<void> {
  const toBytes = (hex: string | undefined) => hex === undefined ? null : Buffer.from(hex, "hex");
  try {
    await client.query("SELECT finish_import($1, $2, $3, $4)", [
      size,
      keys.map(({ fromPosition }) => fromPosition),
      keys.map(({ publicKey }) => toBytes(publicKey)),
      keys.map(({ recoveryKey }) => toBytes(recoveryKey)),
    ]);
  } catch (error) {
    if ((error as { code?: unknown }).code === "23514") { // check_violation
      await requireEmpty(client);
      throw new ImportRefused(`Not exactly ${size} receipts of the file are staged`);
    }
    throw asDuplicate(error) ?? error;
  }
}

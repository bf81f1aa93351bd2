import type { FlagName } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** A flag that was set at least once. */
export interface FlagRecord {
  readonly key: FlagName;
  readonly value: boolean;
  /** Number of the change, counted over all flags, from 1. */
  readonly revision: number;
  /** Id of the key by which it was set. */
  readonly updatedBy: string;
  readonly receiptId: string;
}

/** Advisory lock under which changes of flags are numbered. */
const LOCK = 7_365_616_128;

/** Returns whether a flag is set. */
export async function isFlagSet(db: Db, key: FlagName): Promise<boolean> {
  const row = await db.first<{ value: boolean }>("SELECT value FROM flags WHERE key = $1", [key]);
  return row?.value ?? false;
}

/** Lists the flags that were ever set. */
export async function listFlags(db: Db): Promise<FlagRecord[]> {
  return await db.query<FlagRecord & Record<string, unknown>>(
    `SELECT key, value, revision, updated_by AS "updatedBy", receipt_id AS "receiptId"
     FROM flags ORDER BY key`,
  );
}

/** Keeps flags from being changed until the transaction ends. @returns those that were ever set */
export async function lockFlags(trx: Db): Promise<FlagRecord[]> {
  await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  return await listFlags(trx);
}

/** Stores a flag. Must run in the transaction that locked them. */
export async function putFlag(trx: Db, flag: FlagRecord): Promise<void> {
  await trx.execute(
    `INSERT INTO flags (key, value, revision, updated_by, receipt_id) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision,
       updated_by = excluded.updated_by, receipt_id = excluded.receipt_id, updated_at = now()`,
    [flag.key, flag.value, flag.revision, flag.updatedBy, flag.receiptId],
  );
}

import type pg from "pg";
import { LIST_KEYS, toLedgerKey } from "../receipts/mod.ts";
import type { TrustedKey } from "../rules/mod.ts";
import type { ChainHead } from "../signer/mod.ts";

/** Returns the published keys, in order. */
export async function listKeys(client: pg.ClientBase): Promise<TrustedKey[]> {
  return (await client.query(LIST_KEYS)).rows.map(toLedgerKey);
}

/** Returns the key that signs the next receipt. */
export function findInForce(
  keys: readonly TrustedKey[],
  { size }: ChainHead,
): TrustedKey | undefined {
  return keys.findLast(({ fromPosition }) => fromPosition <= size);
}

/** Returns true where this ledger has no receipts of its own: it is empty, or all were imported. */
export async function mayBegin(
  client: pg.ClientBase,
  { size }: ChainHead,
  keys: readonly TrustedKey[],
): Promise<boolean> {
  if (keys.every(({ recoveryKey }) => recoveryKey === undefined)) return true;
  const { rows: [imported] } = await client.query(
    "SELECT size FROM ledger_import WHERE finished_at IS NOT NULL",
  );
  return Number(imported?.size) === size;
}

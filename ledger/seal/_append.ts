import type pg from "pg";
import type { Batch, ChainHead, Signatures } from "../signer/mod.ts";

const APPEND = {
  name: "append",
  text: "SELECT append_receipts($1, $2, $3, $4, $5, $6, $7, $8, $9)",
};

/** Reads the end of the chain. */
export async function readHead(client: pg.ClientBase): Promise<ChainHead> {
  const { rows: [row] } = await client.query("SELECT size, hash FROM ledger_head");
  return { size: Number(row.size), hash: row.hash };
}

/**
 * Appends a batch to the chain, in one statement. The database checks its place, its links and that its key is in force.
 *
 * @param seqs rows of the outbox to remove
 * @throws the chain does not end where the batch begins, or another key is in force
 */
export async function appendReceipts(
  writer: pg.ClientBase,
  { before, receipts }: Batch,
  { publicKey, signatures }: Signatures,
  seqs: readonly string[],
): Promise<void> {
  await writer.query({
    ...APPEND,
    values: [
      before.size,
      before.hash,
      publicKey,
      receipts.map((receipt) => receipt.id),
      receipts.map((receipt) => receipt.category),
      receipts.map((receipt) => receipt.hash),
      receipts.map((receipt) => receipt.record),
      signatures,
      seqs,
    ],
  });
}

/**
 * Takes the requests of receipts that are part of the chain from the outbox. Requests that the database does not know are
 * remembered without their content.
 */
export async function settleRequests(
  writer: pg.ClientBase,
  { receipts }: Pick<Batch, "receipts">,
): Promise<void> {
  await writer.query("SELECT settle_requests($1)", [receipts.map(({ id }) => id)]);
}

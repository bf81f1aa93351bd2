import { setImmediate as endOfTurn } from "node:timers/promises";
import type pg from "pg";
import { printRecord } from "../receipts/mod.ts";
import { collectKeys, type TrustedKey } from "../rules/mod.ts";
import { type ChainHead, type CommittedReceipt, isSameHead, type Signer } from "../signer/mod.ts";
import { listKeys } from "./_own_receipts.ts";
import { SealingHeld } from "./_trouble.ts";
import { appendVerified, toPlace, verifyNext } from "./_verified.ts";

/** Receipts that the database had lost, and has again. */
export interface Refill {
  /** Number of receipts that it came back with. */
  readonly from: number;
  /** They follow each other. */
  readonly receipts: readonly Pick<CommittedReceipt, "id" | "category" | "position">[];
}

/**
 * Describes receipts that were put back, for the operator: the database still lacks what it had in other tables when they were
 * sealed, such as tickets and votes, and their categories say of what to look for.
 */
export function describeRefill({ from, receipts }: Refill): string {
  const counts = new Map<string, number>();
  for (const { category } of receipts) counts.set(category, (counts.get(category) ?? 0) + 1);
  const list = [...counts].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([category, count]) => `${count} ${category}`);
  return `The database came back with ${from} receipts: the ${receipts.length} after them were put back from the signer's ` +
    `journal (${
      list.join(", ")
    }). Rows of other tables that were written with them can't be put back: compare tickets, ` +
    `approvals and queues with receipts ${from} to ${from + receipts.length - 1}`;
}

const EXPORT = "Put the missing receipts back from any export: npm run restore -- <export>";
const MAX_BATCH_SIZE = 256;

/**
 * Puts back the receipts that were committed and that a failover has lost, from what the signer's journal has kept: each
 * is verified, and all are put back, or none.
 *
 * @returns undefined where the journal does not have all of them
 * @throws {SealingHeld} one of them does not continue what the database has
 */
export async function refill(
  { writer, signer }: { readonly writer: pg.Client; readonly signer: Signer },
  head: ChainHead,
  committed: ChainHead,
): Promise<Refill | undefined> {
  const kept = await signer.readCommitted(head.size);
  const receipts = kept.slice(0, committed.size - head.size);
  if (head.size + receipts.length < committed.size) return undefined;
  let keys: readonly TrustedKey[] = await listKeys(writer); // and those that the receipts introduce, which verifying them proves
  let place = toPlace(head);
  const verified: CommittedReceipt[] = [];
  for (const receipt of receipts) {
    // Else the session with the lock would be idle for as long as all of it takes, and end.
    if (verified.length % MAX_BATCH_SIZE === 0) await endOfTurn();
    const text = printRecord({
      record: receipt.record,
      hash: receipt.hash.toString("hex"),
      publicKey: receipt.publicKey.toString("hex"),
      signature: receipt.signature.toString("hex"),
    });
    keys = collectKeys(keys, text);
    const { position } = receipt;
    const next = verifyNext(
      text,
      place,
      keys,
      (reason) =>
        new SealingHeld(`Receipt ${position} of the signer's journal ${reason}. ${EXPORT}`),
    );
    place = toPlace({ size: next.position + 1, hash: next.hash });
    verified.push(next);
  }
  await writer.query("BEGIN");
  try {
    let end = head;
    for (let at = 0; at < verified.length; at += MAX_BATCH_SIZE) {
      end = await appendVerified(writer, end, verified.slice(at, at + MAX_BATCH_SIZE));
    }
    if (!isSameHead(end, committed)) {
      throw new SealingHeld(
        `Receipt ${
          end.size - 1
        } that the signer's journal has kept is not the one that was committed`,
      );
    }
    await writer.query("COMMIT");
  } catch (error) {
    await writer.query("ROLLBACK").catch(() => {});
    throw error;
  }
  return { from: head.size, receipts: verified };
}

import type pg from "pg";
import {
  type Batch,
  type ChainHead,
  getHeadAfter,
  getSignedHead,
  isSameHead,
  type Signer,
  type SignerState,
} from "../signer/mod.ts";
import { appendReceipts, readHead, settleRequests } from "./_append.ts";
import { type Refill, refill } from "./_refill.ts";
import { SealingHeld } from "./_trouble.ts";

/** The parts of {@linkcode reconcile}. */
export interface ReconcileParts {
  /** Connection that commits. */
  readonly writer: pg.Client;
  readonly signer: Signer;
  /** Size of the newest checkpoint that was signed; 0: there is none. */
  readonly checkpointSize: number;
  /** Called once receipts that the database had lost are back. */
  readonly onRefill?: ((refill: Refill) => void) | undefined;
}

/**
 * Compares the database with what the signer has signed. What was committed and is lost, as after an asynchronous failover, is
 * put back from the signer's journal; then what was signed and is not committed is committed.
 *
 * @throws {SealingHeld} one of them is behind the other: another signature could fork the chain
 */
export async function reconcile(parts: ReconcileParts): Promise<void> {
  const { writer, signer, checkpointSize } = parts;
  let head = await readHead(writer);
  const { committed, signedAt } = signer.state();
  if (committed && head.size < committed.size) {
    const refilled = await refill({ writer, signer }, head, committed);
    if (refilled) {
      head = committed;
      parts.onRefill?.(refilled);
    }
  }
  const mayBegin = signedAt === 0 && head.size >= (committed?.size ?? 0);
  if (mayBegin && await isUnsigned(writer, head)) await signer.startFrom(head);
  const state = signer.state();
  const uncommitted = findUncommitted(head, state);
  const { size } = getSignedHead(state)!;
  if (checkpointSize > size) {
    throw new SealingHeld(
      `A checkpoint of ${checkpointSize} receipts was signed, and the signer's journal ends at ${size}: ` +
        `it is older. ${START_FROM_CHECKPOINT}`,
    );
  }
  for (const batch of uncommitted) await commitAgain(writer, signer, batch);
  signer.acknowledge(getSignedHead(signer.state())!);
}

const REFILL = "Put the missing receipts back from any export: npm run restore -- <export>";
const START_FROM_CHECKPOINT =
  "Start from a checkpoint that is as new as possible: npm run restore -- --checkpoint <file>";

/**
 * Returns the batches that the signer has signed and the database does not have.
 *
 * @throws {SealingHeld} they do not continue what the database has
 */
function findUncommitted(head: ChainHead, state: SignerState): readonly Batch[] {
  const { committed, pending } = state;
  if (!committed) {
    throw new SealingHeld(
      `The database has ${head.size} receipts, and the signer has no state of them. ${START_FROM_CHECKPOINT}`,
    );
  }
  if (head.size < committed.size) {
    throw new SealingHeld(
      `The database has ${head.size} receipts, and ${committed.size} were committed: ` +
        `it was put back to an older state, and the signer's journal has not kept all of them. ${REFILL}`,
    );
  }
  const signed = getSignedHead(state)!;
  if (head.size > signed.size) {
    throw new SealingHeld(
      `The database has ${head.size} receipts, and the signer's journal ends at ${signed.size}: ` +
        `it is older. ${START_FROM_CHECKPOINT}`,
    );
  }
  const ends = [committed, ...pending.map(getHeadAfter)];
  const at = ends.findIndex((end) => isSameHead(end, head));
  if (at >= 0) return pending.slice(at);
  throw new SealingHeld(
    `Receipt ${head.size - 1} of the database is not the one that was signed at this position. ` +
      "Find out who changed it: npm run verify -- <export> shows where the chain does not hold",
  );
}

/** Returns true where no receipt of the database was signed here: it has none, or just those that were imported. */
async function isUnsigned(writer: pg.Client, { size }: ChainHead): Promise<boolean> {
  if (size === 0) return true;
  const { rows: [imported] } = await writer.query(
    "SELECT size FROM ledger_import WHERE finished_at IS NOT NULL",
  );
  return Number(imported?.size) === size;
}

/** Commits a batch that was signed before. Its requests may be in the outbox, under these or other numbers, or nowhere. */
async function commitAgain(writer: pg.Client, signer: Signer, batch: Batch): Promise<void> {
  const signed = await signer.sign(batch);
  await writer.query("BEGIN");
  try {
    await appendReceipts(writer, batch, signed, []);
    await settleRequests(writer, batch);
    await writer.query("COMMIT");
  } catch (error) {
    await writer.query("ROLLBACK").catch(() => {});
    throw error;
  }
  signer.acknowledge(getHeadAfter(batch));
}

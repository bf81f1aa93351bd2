import { type Batch, type ChainHead, getHeadAfter, isSameHead } from "./batch.ts";
import type { Entry } from "./_entries.ts";
import { SignatureRefused, SignerStateError } from "./errors.ts";

/** Memory of a signer. */
export interface SignerState {
  /** The newest end of the chain that it knows to be committed; undefined: it has not begun. */
  readonly committed: ChainHead | undefined;
  /** Batches after that, oldest first: signed, and maybe not committed. */
  readonly pending: readonly Batch[];
  /** Time of the newest signature, milliseconds since 1970; 0: there is none. */
  readonly signedAt: number;
}

/** Returns the end of the chain that the signer has signed. */
export function getSignedHead({ committed, pending }: SignerState): ChainHead | undefined {
  const last = pending.at(-1);
  return last ? getHeadAfter(last) : committed;
}

/** Replays the entries of a journal. @throws {SignerStateError} they contradict each other */
export function replay(entries: readonly Entry[]): SignerState {
  let state: SignerState = { committed: undefined, pending: [], signedAt: 0 };
  for (const entry of entries) {
    if (entry.type === "time") state = { ...state, signedAt: Math.max(state.signedAt, entry.at) };
    if (entry.type === "committed") state = addCommitted(state, entry.head);
    if (entry.type === "batch") {
      const signed = getSignedHead(state);
      if (!signed || !isSameHead(signed, entry.batch.before)) {
        throw new SignerStateError(
          `The signer's journal has a batch of position ${entry.batch.before.size} after one ` +
            `that ends at ${signed?.size ?? 0}`,
        );
      }
      state = { ...state, pending: [...state.pending, entry.batch] };
    }
  }
  return state;
}

/** Returns the state after a commit. An end of the chain below the one that is known changes nothing. */
export function addCommitted(state: SignerState, head: ChainHead): SignerState {
  if (state.committed && head.size < state.committed.size) return state;
  const pending = state.pending.filter((batch) => getHeadAfter(batch).size > head.size);
  return { ...state, committed: head, pending };
}

/** Returns the entries that a journal with this state begins with. */
export function toEntries({ committed, pending, signedAt }: SignerState): Entry[] {
  return [
    { type: "time", at: signedAt },
    ...(committed ? [{ type: "committed" as const, head: committed }] : []),
    ...pending.map((batch) => ({ type: "batch" as const, batch })),
  ];
}

/**
 * Finds a batch that is to be signed among those that were.
 *
 * @returns undefined where it is new
 * @throws {SignatureRefused} other bytes were signed at one of its positions, or it does not follow what was signed
 */
export function findSigned(state: SignerState, batch: Batch): Batch | undefined {
  const { before: { size } } = batch;
  const signed = getSignedHead(state);
  if (!signed) throw new SignatureRefused("The signer has not begun with an end of the chain yet");
  if (size > signed.size) {
    throw new SignatureRefused(
      `Cannot sign at position ${size}: the signer has signed ${signed.size} receipts`,
    );
  }
  if (size === signed.size) {
    if (isSameHead(signed, batch.before)) return undefined;
    throw new SignatureRefused(
      `Cannot sign at position ${size}: the receipt before is not the one that was signed there`,
    );
  }
  const same = state.pending.find(({ before }) => before.size === size);
  if (same && isSameBatch(same, batch)) return same;
  throw new SignatureRefused(
    `Cannot sign at position ${size}: other bytes were signed there, or they are committed already`,
  );
}

function isSameBatch(a: Batch, b: Batch): boolean {
  return isSameHead(a.before, b.before) && a.receipts.length === b.receipts.length &&
    a.receipts.every(({ record }, n) => record.equals(b.receipts[n]!.record));
}

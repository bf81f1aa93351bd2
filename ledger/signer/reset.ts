import { getSignedHead, replay, type SignerState, toEntries } from "./state.ts";
import type { ChainHead } from "./batch.ts";
import { SignatureRefused, type SignerStateError } from "./errors.ts";
import type { JournalObjects } from "./journal_objects.ts";
import { openPlace } from "./place.ts";

/** State of a signer as its files have it. */
export interface StoredSignerState {
  readonly state: SignerState;
  /** Why there may be more that can't be read; undefined: it is whole. */
  readonly damage: SignerStateError | undefined;
}

/** Reads a signer's state, and leaves the signer alone. @param objects those of a journal in a bucket */
export async function readSignerState(
  keyFile: string,
  objects?: JournalObjects,
): Promise<StoredSignerState> {
  const { entries, damage } = await openPlace(keyFile, objects).read();
  return { state: replay(entries), damage };
}

/**
 * Gives a key a new journal that begins with an end of the chain, in place of one that is lost or damaged. The caller
 * answers for it that nothing after that was signed.
 *
 * @throws {SignatureRefused} what can be read of the old journal says that more was signed
 */
export async function resetSigner(
  keyFile: string,
  head: ChainHead,
  objects?: JournalObjects,
): Promise<void> {
  const { state } = await readSignerState(keyFile, objects);
  const signed = getSignedHead(state)?.size ?? 0;
  if (head.size < signed) {
    throw new SignatureRefused(
      `The signer can't start from ${head.size} receipts: it has signed ${signed}`,
    );
  }
  const signedAt = Math.max(Date.now(), state.signedAt);
  await replaceJournal(keyFile, objects, { committed: head, pending: [], signedAt });
}

/** Sets the time of the newest signature to now, where the clock was wrong then. */
export async function acceptClock(keyFile: string, objects?: JournalObjects): Promise<void> {
  // The state is read as the journal is taken over: what is signed until then stays in it.
  const journal = await openPlace(keyFile, objects).open((entries) =>
    toEntries({ ...replay(entries), signedAt: Date.now() })
  );
  await journal.close();
}

/** Begins the next generation of the journal with a state. Whoever had it open gives no more signatures. */
async function replaceJournal(
  keyFile: string,
  objects: JournalObjects | undefined,
  state: SignerState,
): Promise<void> {
  const journal = await openPlace(keyFile, objects).open(() => toEntries(state), "keep damaged");
  await journal.close();
}

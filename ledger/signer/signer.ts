import { sign } from "node:crypto";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { SigningKey } from "../crypto/mod.ts";
import { collectCommitted, type CommittedReceipt } from "./_committed.ts";
import type { SignedBatch } from "./_entries.ts";
import { type Batch, type ChainHead, isSameHead, type Signatures } from "./batch.ts";
import { ClockWentBack, SignatureRefused, SignerStateError } from "./errors.ts";
import { openSocketKey } from "./key_socket.ts";
import type { JournalObjects } from "./journal_objects.ts";
import { openPlace } from "./place.ts";
import { openFileKey, type ReceiptKey } from "./receipt_key.ts";
import {
  addCommitted,
  findSigned,
  getSignedHead,
  replay,
  type SignerState,
  toEntries,
} from "./state.ts";

/**
 * Signs receipts, and remembers what it signed. This is all that the sequencer needs of a key: one that is in hardware, or
 * on another machine, can be put behind the same calls.
 */
export interface Signer {
  /** 32 bytes. */
  readonly publicKey: Buffer;
  state(): SignerState;
  /**
   * Sets the end of the chain that the next signature follows. It never goes back.
   *
   * @throws {SignatureRefused} more was signed, or something else
   */
  startFrom(head: ChainHead): Promise<void>;
  /**
   * Writes a batch to the journal, and returns the signatures over its records once that is on the disk. The same batch
   * gets the same signatures again until it is acknowledged.
   *
   * @param key signs in place of the signer's own: the recovery key, for the one receipt that introduces another
   * @throws {SignatureRefused} the signature could fork the chain
   * @throws {ClockWentBack} the clock of this machine is behind the time of an earlier signature
   * @throws {SignerReplaced} another signer has taken over this state
   * @throws what the disk reports; then this signer gives no more signatures, and has to be opened again
   */
  sign(batch: Batch, key?: SigningKey): Promise<Signatures>;
  /** Notes that everything up to here is committed. It is kept for a while, to refill a database that has lost it. */
  acknowledge(head: ChainHead): void;
  /** Returns what the journal has kept of what is committed, from a position on and without a gap. Nobody has verified it. */
  readCommitted(from: number): Promise<CommittedReceipt[]>;
  /** Waits for what is being written, then closes. */
  close(): Promise<void>;
}

/** Options of {@linkcode openSigner}. */
export interface SignerOptions {
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number;
  /** False: gives signatures before the journal is on the disk. For the measurement of what that costs. */
  readonly durable?: boolean;
  /** Unix socket of the process that has the key. Default: the key is the file. */
  readonly socket?: string | undefined;
  /** False where the ledger has receipts of its own: then neither key nor journal is made. Default: true. */
  readonly mayBegin?: boolean;
  /** Objects of a bucket that have the journal. Default: the folder `signer` beside the key's file has it. */
  readonly journal?: JournalObjects | undefined;
}

/** A clock that is set back by less, as time servers do, is waited for. */
const MAX_CLOCK_WAIT_MS = 2_000;

/**
 * Opens the signer of a key, with its journal in the folder `signer` beside the key's file. Both are created where there is
 * neither and a ledger may begin. Whoever had it open before gives no more signatures.
 *
 * @param keyFile PEM file of mode 0600; where a process has the key, the file that it would be
 * @throws {SignerStateError} the key or the journal is missing, or the journal is damaged
 * @throws {BadKeyFile} the key can't be used
 * @throws {SignerAway} the process that has it does not answer
 */
export async function openSigner(
  keyFile: string,
  { now = Date.now, durable = true, socket, mayBegin = true, journal: objects }: SignerOptions = {},
): Promise<Signer> {
  const place = openPlace(keyFile, objects);
  const mayMakeJournal = mayBegin && (socket !== undefined || !existsSync(keyFile));
  if (!mayMakeJournal && !await place.exists()) throw missingJournal(place.name);
  let state: SignerState = replay([]);
  const journal = await place.open((entries) => {
    state = replay(entries);
    if (entries.length === 0 && !mayMakeJournal) throw missingJournal(place.name);
    const hasBegun = state.committed !== undefined || !mayBegin;
    if (hasBegun && socket === undefined && !existsSync(keyFile)) throw missingKey();
    return toEntries(state);
  });
  let key: ReceiptKey;
  try { // after the journal: a key without one may have signed
    key = socket === undefined ? openFileKey(keyFile) : await openSocketKey(socket);
  } catch (error) {
    await journal.close();
    throw error;
  }
  const { publicKey } = key;
  let failure: { readonly error: unknown } | undefined;
  let writing: Promise<void> = Promise.resolve();

  /** Writes after what is being written. After a failure nothing more is written. */
  function write(work: () => Promise<void>): Promise<void> {
    writing = writing.then(async () => {
      if (failure) throw failure.error;
      await work().catch((error) => {
        failure = { error };
        throw error;
      });
    });
    writing.catch(() => {}); // whoever asks next is told
    return writing;
  }

  const given = new WeakMap<Batch, Signatures>();

  /** Returns the signatures of batches that are committed. After a crash they are made once more, and are the same. */
  async function collectSignatures(batches: readonly Batch[]): Promise<SignedBatch[]> {
    return await Promise.all(batches.map(async (batch) => {
      const signed = batch.signed ?? given.get(batch) ??
        { publicKey, signatures: await key.sign(batch.receipts.map(({ record }) => record)) };
      return { size: batch.before.size, ...signed };
    }));
  }

  /** Adds a batch to the state at once, and to the journal. */
  async function remember(batch: Batch): Promise<void> {
    const time = now();
    const delay = measureDelay(state.signedAt, time);
    const at = time + delay;
    state = { ...state, pending: [...state.pending, batch], signedAt: at };
    await write(async () => {
      if (delay > 0) await sleep(delay);
      await journal.append([{ type: "time", at }, { type: "batch", batch }], durable);
    });
  }

  return {
    publicKey,
    state: () => state,
    async startFrom(head) {
      const signed = getSignedHead(state);
      const isBehind = signed && (head.size < signed.size ||
        head.size === signed.size && !isSameHead(head, signed));
      if (isBehind) {
        throw new SignatureRefused(
          `The signer can't start from ${head.size} receipts: it has signed ${signed.size}`,
        );
      }
      state = { ...state, committed: head, pending: [] };
      await write(() => journal.append([{ type: "committed", head }], true));
    },
    async sign(batch, otherKey) {
      if (failure) throw failure.error;
      const known = findSigned(state, batch);
      if (known?.signed) return known.signed;
      if (otherKey) {
        const signed = signHere(batch, otherKey);
        await remember({ ...batch, signed });
        return signed;
      }
      const remembering = known ? undefined : remember(batch);
      if (socket !== undefined) await remembering; // a signature of another process has left that already
      const signing = key.sign(batch.receipts.map(({ record }) => record));
      const [signatures] = await Promise.all([signing, remembering]);
      given.set(known ?? batch, { publicKey, signatures });
      return { publicKey, signatures };
    },
    acknowledge(head) {
      const signed = getSignedHead(state);
      if (signed && head.size > signed.size) {
        throw new SignatureRefused(
          `The signer has signed ${signed.size} receipts, and not ${head.size}`,
        );
      }
      if (state.committed && head.size <= state.committed.size) return;
      const { pending } = state;
      state = addCommitted(state, head);
      const entries = toEntries(state); // now, as batches may follow before it is written
      const done = pending.filter((batch) => !state.pending.includes(batch));
      write(async () => {
        const signed = await collectSignatures(done);
        await journal.append([{ type: "committed", head, signed }], false);
        if (journal.isFull()) await journal.renew(entries);
      }).catch(() => {}); // the next signature reports it
    },
    async readCommitted(from) {
      await writing.catch(() => {});
      return await collectCommitted(place.readKept(), from);
    },
    async close() {
      await writing.catch(() => {});
      await Promise.all([journal.close(), key.close()]);
    },
  };
}

/** Signs without the thread. The signatures are written with the batch, as the key may be gone at the next start. */
function signHere({ receipts }: Batch, { publicKey, privateKey }: SigningKey): Signatures {
  return { publicKey, signatures: receipts.map(({ record }) => sign(null, record, privateKey)) };
}

/**
 * Returns how long to wait until the clock is where it was, milliseconds.
 *
 * @throws {ClockWentBack} it would be long
 */
function measureDelay(signedAt: number, now: number): number {
  const behind = Math.max(0, signedAt - now);
  if (behind <= MAX_CLOCK_WAIT_MS) return behind;
  const [clock, last] = [now, signedAt].map((at) => new Date(at).toISOString());
  throw new ClockWentBack(
    `Cannot sign: this machine's clock says ${clock}, and the newest signature was made at ${last}. ` +
      "Set the clock; if it was wrong then: npm run restore -- --accept-clock",
  );
}

/** Returns the error of a journal that is not there. */
export const missingJournal = (name: string) =>
  new SignerStateError(
    `${name} is missing, which says what the key has signed. Put it back, ` +
      "or start from a checkpoint that is as new as possible: npm run restore -- --checkpoint <file>",
  );

/** Returns the error of a key that is not there. */
export const missingKey = () =>
  new SignerStateError(
    "The ledger's key is missing, and the signer's journal says that it has signed receipts. " +
      "Put it back; if it is lost: npm run keys -- ledger recover",
  );

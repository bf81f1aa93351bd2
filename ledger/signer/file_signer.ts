import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadSigningKey } from "../crypto/mod.ts";
import type { Batch, ChainHead } from "./batch.ts";
import { ClockWentBack, SignatureRefused, SignerStateError } from "./errors.ts";
import { openJournal } from "./_journal.ts";
import {
  addCommitted,
  getSignedHead,
  isNewBatch,
  replay,
  type SignerState,
  toEntries,
} from "./state.ts";
import { type SignThread, startSignThread } from "./_sign_thread.ts";

/**
 * Signs receipts, and remembers what it signed. This is all that the sequencer needs of a key: one that is in hardware, or
 * on another machine, can be put behind the same calls.
 */
export interface Signer {
  /** 32 bytes. */
  readonly publicKey: Buffer;
  state(): SignerState;
  /**
   * Sets the end of the chain that the first signature follows.
   *
   * @throws {SignatureRefused} the signer has begun already
   */
  begin(head: ChainHead): Promise<void>;
  /**
   * Writes a batch to the journal, and returns the signatures over its records once that is on the disk. The same batch
   * gets the same signatures again until it is acknowledged.
   *
   * @throws {SignatureRefused} the signature could fork the chain
   * @throws {ClockWentBack} the clock of this machine is behind the time of an earlier signature
   * @throws {SignerReplaced} another signer has taken over this state
   * @throws what the disk reports; then this signer gives no more signatures, and has to be opened again
   */
  sign(batch: Batch): Promise<Buffer[]>;
  /** Notes that everything up to here is committed. The batches before are forgotten. */
  acknowledge(head: ChainHead): void;
  /** Waits for what is being written, then closes. */
  close(): Promise<void>;
}

/** Options of {@linkcode openFileSigner}. */
export interface FileSignerOptions {
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number;
  /** False: gives signatures before the journal is on the disk. For the measurement of what that costs. */
  readonly durable?: boolean;
}

/** Size of a journal at which the next generation begins, without what is committed. */
const MAX_JOURNAL_BYTES = 16 * 1024 * 1024;
/** A clock that is set back by less, as time servers do, is waited for. */
const MAX_CLOCK_WAIT_MS = 2_000;

/** Returns the folder of the journal beside a signing key. */
export const signerFolder = (folder: string): string => join(folder, "signer");
/** Returns the path of the key that signs receipts. */
export const ledgerKeyFile = (folder: string): string => join(folder, "ledger.key");

/**
 * Opens the signer whose key is `ledger.key` of a folder and whose journal is `signer/`. Both are created where there is
 * neither. Whoever had it open before gives no more signatures.
 *
 * @throws {SignerStateError} the key or the journal is missing, or the journal is damaged
 * @throws {BadKeyFile} the key can't be used
 */
export async function openFileSigner(
  folder: string,
  { now = Date.now, durable = true }: FileSignerOptions = {},
): Promise<Signer> {
  const keyFile = ledgerKeyFile(folder);
  mkdirSync(signerFolder(folder), { recursive: true, mode: 0o700 });
  let state: SignerState = replay([]);
  const journal = await openJournal(signerFolder(folder), (entries) => {
    state = replay(entries);
    if (entries.length === 0 && existsSync(keyFile)) throw missingJournal();
    if (state.committed && !existsSync(keyFile)) throw missingKey();
    return toEntries(state);
  });
  let thread: SignThread;
  let publicKey: Buffer;
  try {
    const key = loadSigningKey(keyFile); // after the journal: a key without one may have signed
    publicKey = key.publicKey;
    thread = startSignThread(key.privateKey);
  } catch (error) {
    await journal.close();
    throw error;
  }
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

  return {
    publicKey,
    state: () => state,
    async begin(head) {
      if (state.committed) {
        throw new SignatureRefused(
          `The signer has begun already: ${state.committed.size} receipts`,
        );
      }
      state = { ...state, committed: head };
      await write(() => journal.append([{ type: "committed", head }], true));
    },
    async sign(batch) {
      if (failure) throw failure.error;
      const isNew = isNewBatch(state, batch);
      const behind = measureDelay(state.signedAt, now());
      const signing = thread.sign(batch.receipts.map(({ record }) => record));
      signing.catch(() => {}); // awaited below
      if (isNew) {
        const at = Math.max(state.signedAt, now());
        state = { ...state, pending: [...state.pending, batch], signedAt: at };
        const entries = [{ type: "time", at } as const, { type: "batch", batch } as const];
        await write(async () => {
          if (behind > 0) await sleep(behind);
          await journal.append(entries, durable);
        });
      }
      return await signing;
    },
    acknowledge(head) {
      const signed = getSignedHead(state);
      if (signed && head.size > signed.size) {
        throw new SignatureRefused(
          `The signer has signed ${signed.size} receipts, not ${head.size}`,
        );
      }
      state = addCommitted(state, head);
      const entries = toEntries(state); // now, as batches may follow before it is written
      void write(() =>
        journal.size() > MAX_JOURNAL_BYTES
          ? journal.renew(entries)
          : journal.append([{ type: "committed", head }], false)
      ).catch(() => {}); // the next signature reports it
    },
    async close() {
      await writing.catch(() => {});
      await Promise.all([journal.close(), thread.close()]);
    },
  };
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

const missingJournal = () =>
  new SignerStateError(
    "The folder signer of the data folder is missing, which says what ledger.key has signed. Put it back, " +
      "or start from a checkpoint that is as new as possible: npm run restore -- --checkpoint <file>",
  );

const missingKey = () =>
  new SignerStateError(
    "ledger.key of the data folder is missing, and the folder signer says that it has signed receipts. Put it back",
  );

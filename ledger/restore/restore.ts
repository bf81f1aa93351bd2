import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Store } from "../../store/mod.ts";
import { importLedger } from "../import/mod.ts";
import { getPublishedCheckpoint, readSignedSize } from "../log/mod.ts";
import { listLedgerKeys, rootKeyFile, useRootKey } from "../receipts/mod.ts";
import { appendVerified, readHead, SEQUENCER_LOCK } from "../seal/mod.ts";
import {
  type ChainHead,
  getSignedHead,
  type JournalObjects,
  readSignerState,
  resetSigner,
  type SignerState,
} from "../signer/mod.ts";
import { openReceiptFile } from "../verify/mod.ts";
import { verifyDatabase } from "./_chain.ts";
import { chooseCheckpoint, type LogFiles, rememberCheckpoint } from "./_checkpoint.ts";
import { readMissing, requireSigned } from "./_receipts.ts";
import { RestoreRefused } from "./errors.ts";

/** Options of {@linkcode restoreLedger}. */
export interface RestoreOptions {
  /** Store of role `sequencer`. */
  readonly store: Store;
  /** PEM file of the key that signs receipts. */
  readonly keyFile: string;
  /** Unix socket of the process that has the key. Default: the key is the file. */
  readonly signerSocket?: string | undefined;
  /** Objects of a bucket that have the journal. Default: the folder beside the key has it. */
  readonly journal?: JournalObjects | undefined;
  readonly log: LogFiles;
  /** Files of exported receipts, each with any part of the ledger. */
  readonly exports: readonly string[];
  /** Note of the checkpoint that the operator names for a signer whose state is lost. */
  readonly checkpoint?: string | undefined;
  /** Number of receipts that are known from elsewhere to have been signed. */
  readonly minSize?: number | undefined;
  /** Called with the number of receipts a step has done. */
  readonly onProgress?: (step: "restored" | "verified", done: number) => void;
}

/** Result of a restore. */
export interface RestoreResult {
  /** Number of receipts that were put back. */
  readonly restored: number;
  /** Number of receipts that the database has now. */
  readonly size: number;
  /** Size of the checkpoint that a signer without a state starts from; undefined: its state was whole. */
  readonly startedFrom: number | undefined;
}

const LOCK_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

/**
 * Puts back receipts that the database has lost, each verified, until it has all that the signer knows to be committed.
 * All are put back, or none. The signer's state is never lowered.
 *
 * Where that state is lost, damaged or older than the ledger, the signer starts from a checkpoint: the database must have
 * all of its receipts, and nothing after those that it has then may have been published.
 *
 * @throws {RestoreRefused} receipts are missing, contradict what was signed, or there is no checkpoint to start from
 */
export async function restoreLedger(options: RestoreOptions): Promise<RestoreResult> {
  const { store, keyFile } = options;
  useRootKey(store, rootKeyFile(dirname(keyFile)));
  if (options.signerSocket === undefined && !existsSync(keyFile)) {
    throw new RestoreRefused(`There is no key ${keyFile}: put it back first`);
  }
  const client = await store.connect();
  try {
    await takeLock(client);
    const { state, damage } = await readSignerState(keyFile, options.journal);
    const isWhole = damage === undefined && state.committed !== undefined;
    const before = await readHead(client);
    if (before.size === 0 && options.exports.length > 0) await importWhole(options, state);
    await client.query("BEGIN");
    const { head, startedFrom } = await refill(client, options, state, isWhole);
    await client.query("COMMIT");
    if (startedFrom) {
      await verifyDatabase(store, startedFrom, (n) => options.onProgress?.("verified", n));
      await rememberCheckpoint(options.log, startedFrom);
      await resetSigner(keyFile, head, options.journal);
    }
    return {
      restored: head.size - before.size,
      size: head.size,
      startedFrom: startedFrom?.size,
    };
  } finally {
    await client.end();
  }
}

/** Keeps sequencers away. One that is held tries again and again, so the lock may be taken for a moment. */
async function takeLock(client: pg.Client): Promise<void> {
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  while (true) {
    const { rows: [row] } = await client.query("SELECT pg_try_advisory_lock($1) AS taken", [
      SEQUENCER_LOCK,
    ]);
    if (row.taken) return;
    if (Date.now() > deadline) {
      throw new RestoreRefused("A sequencer is sealing, so nothing is to be restored");
    }
    await sleep(POLL_MS);
  }
}

/** Imports the first export into an empty database: it has the receipts that were imported before, too. */
async function importWhole(
  { store, exports: [path], onProgress }: RestoreOptions,
  { committed }: SignerState,
): Promise<void> {
  const file = await openReceiptFile(path!);
  try {
    let position = 0;
    for await (const batch of file.batches()) {
      const last = committed && batch[committed.size - 1 - position];
      if (last && JSON.parse(last.toString()).hash_sha256 !== committed.hash?.toString("hex")) {
        throw new RestoreRefused(
          `Receipt ${
            committed.size - 1
          } of ${path} is not the one that was signed at this position`,
        );
      }
      position += batch.length;
    }
  } finally {
    await file.close();
  }
  await importLedger(store, path!, {
    onProgress: (step, done) => step === "staged" && onProgress?.("restored", done),
  });
}

/** Appends what the exports have, and decides what the signer starts from. Within a transaction. */
async function refill(
  client: pg.Client,
  options: RestoreOptions,
  state: SignerState,
  isWhole: boolean,
) {
  const { store, keyFile, log, exports, checkpoint, minSize = 0 } = options;
  const head = await appendExports(client, options, state);
  const signed = getSignedHead(state);
  const committedSize = Math.max(minSize, state.committed?.size ?? 0);
  if (head.size < committedSize) {
    throw new RestoreRefused(
      `Receipts ${head.size} to ${committedSize - 1} are in ${
        exports.length === 0 ? "no export: name one or more" : "none of the exports"
      }. Ask those who read the ledger; if nobody has them, a new ledger can continue: --new-ledger`,
    );
  }
  const checkpointSize = await readSignedSize(dirname(keyFile));
  const isNewest = isWhole && head.size <= signed!.size && checkpointSize <= signed!.size;
  if (isNewest) return { head, startedFrom: undefined };
  const published = await getPublishedCheckpoint(store);
  const startedFrom = await chooseCheckpoint(log, checkpoint, published?.note);
  if (startedFrom.size > head.size) {
    throw new RestoreRefused(
      `The checkpoint is of ${startedFrom.size} receipts, and with all exports there are ${head.size}. Find the others`,
    );
  }
  return { head, startedFrom };
}

/** Reads the exports again and again, as long as one of them continues where another has ended. */
async function appendExports(
  client: pg.Client,
  { store, exports, onProgress }: RestoreOptions,
  state: SignerState,
): Promise<ChainHead> {
  const keys = await listLedgerKeys(store);
  let head = await readHead(client);
  const { size: first } = head;
  for (let before = -1; before < head.size;) {
    before = head.size;
    for (const path of exports) {
      for await (const receipts of readMissing(path, head, keys)) {
        requireSigned(receipts, state);
        head = await appendVerified(client, head, receipts);
        onProgress?.("restored", head.size - first);
      }
    }
  }
  return head;
}

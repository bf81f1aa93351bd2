import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Db, Store } from "../../store/mod.ts";
import { getPublishedCheckpoint, type LogSettings, readIfPresent } from "../log/mod.ts";
import { BadNote, type Checkpoint, parseCheckpoint, parseNote } from "../notes/mod.ts";
import { getHead, type LedgerHead, rootKeyFile } from "../receipts/mod.ts";
import {
  getSignedHead,
  type JournalObjects,
  readSignerState,
  signerFolder,
} from "../signer/mod.ts";
import { RestoreRefused } from "./errors.ts";

/** Options of {@linkcode beginNewLedger}. */
export interface NewLedgerOptions {
  /** A store of role `owner`. No sequencer is at work. */
  readonly owner: Store;
  /** PEM file of the lost ledger's key. */
  readonly keyFile: string;
  /** Objects of a bucket that have the lost ledger's journal. Default: the folder beside the key has it. */
  readonly journal?: JournalObjects | undefined;
  /** Settings of the new log: its origin differs from that of the lost one. */
  readonly log: Pick<LogSettings, "origin" | "keyFile" | "checkpointFile">;
}

/** The ledger that a new one replaces, as the first receipt of the new one names it. */
interface ReplacedLedger {
  readonly origin: string | null;
  /** Number of receipts that the new ledger adopts. */
  readonly size: number;
  /** Number of receipts that are known to have been signed: those from `size` on are lost. */
  readonly signed_size: number;
  /** Root of its newest checkpoint that is here, hex, and the number of receipts below it. */
  readonly checkpoint_root: string | null;
  readonly checkpoint_size: number | null;
}

/** Result of {@linkcode beginNewLedger}. */
export interface NewLedger {
  readonly replaced: ReplacedLedger;
  /** Folder that the keys and the state of the lost ledger were moved to. */
  readonly retired: string;
}

/**
 * Lets a new ledger begin where receipts of the old one are lost for ever: the old keys and the old state are put aside,
 * so that nothing signs with them again, and the receipts that are left count as imported. The sequencer then makes new
 * keys, and says in its first receipt which ledger it replaces and what is lost. It may be repeated after it was killed.
 *
 * @throws {RestoreRefused} nothing is lost, or the new log would have the old one's name
 */
export async function beginNewLedger(options: NewLedgerOptions): Promise<NewLedger> {
  const { owner, keyFile, log } = options;
  const head = await getHead(owner);
  const replaced = await findReplaced(owner, head, options);
  if (existsSync(keyFile) && replaced.signed_size <= head.size) {
    throw new RestoreRefused(`Nothing is lost: the database has all ${head.size} signed receipts`);
  }
  if (replaced.origin === log.origin) {
    throw new RestoreRefused(
      `A new ledger needs another name than ${log.origin}: set SEALOOP_LEDGER_ORIGIN`,
    );
  }
  if (head.size === 0) {
    throw new RestoreRefused("The database has no receipts that a new ledger could continue");
  }
  await owner.asPlatform().transaction((trx) => storeReplaced(trx, head, replaced));
  return { replaced, retired: await retire(keyFile, log, head.size) };
}

/** Describes the old ledger. After a call that was killed midway: as that one has described it. */
async function findReplaced(
  owner: Store,
  { size }: LedgerHead,
  { keyFile, journal, log }: NewLedgerOptions,
): Promise<ReplacedLedger> {
  const row = await owner.asPlatform().first(
    "SELECT replaced FROM ledger_import WHERE size = $1 AND replaced IS NOT NULL",
    [size],
  );
  if (row) return row.replaced;
  const notes = [
    await readIfPresent(log.checkpointFile),
    (await getPublishedCheckpoint(owner))?.note,
  ];
  const checkpoints = notes.flatMap((note) => parseIfCheckpoint(note) ?? []);
  const [checkpoint] = checkpoints.sort((a, b) => b.size - a.size);
  const signed = getSignedHead((await readSignerState(keyFile, journal)).state);
  return {
    origin: checkpoint?.origin ?? null,
    size,
    signed_size: Math.max(size, signed?.size ?? 0, checkpoint?.size ?? 0),
    checkpoint_root: checkpoint ? Buffer.from(checkpoint.root).toString("hex") : null,
    checkpoint_size: checkpoint?.size ?? null,
  };
}

function parseIfCheckpoint(note: string | undefined): Checkpoint | undefined {
  try {
    return note === undefined ? undefined : parseCheckpoint(parseNote(note).text);
  } catch (error) {
    if (error instanceof BadNote) return undefined;
    throw error;
  }
}

/** Marks all receipts as imported, which lets another key adopt them. */
async function storeReplaced(
  trx: Db,
  { size, hash }: LedgerHead,
  replaced: ReplacedLedger,
): Promise<void> {
  await trx.execute("DELETE FROM ledger_import");
  await trx.execute("DELETE FROM ledger_recovery"); // the new ledger needs one of its own
  await trx.execute(
    "INSERT INTO ledger_import (file_sha256, size, finished_at, replaced) VALUES ($1, $2, now(), $3)",
    [createHash("sha256").update(hash).digest(), size, JSON.stringify(replaced)],
  );
}

/** Moves the files of the old ledger to a folder of their own. */
async function retire(
  keyFile: string,
  { keyFile: logKeyFile, checkpointFile }: NewLedgerOptions["log"],
  size: number,
): Promise<string> {
  const dataDir = dirname(keyFile);
  const folder = join(dataDir, `retired-${size}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const paths = [
    keyFile,
    `${keyFile}.next`,
    signerFolder(keyFile),
    logKeyFile,
    checkpointFile,
    rootKeyFile(dataDir),
    join(dataDir, "verified.json"),
  ];
  for (const path of paths) {
    if (existsSync(path)) await rename(path, join(folder, basename(path)));
  }
  return folder;
}

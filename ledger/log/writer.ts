import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../store/mod.ts";
import { computeLeafHash, loadSigningKey, NODE_PRIMITIVES, sha256 } from "../crypto/mod.ts";
import {
  exportReceipts,
  findStoredKeyBreaks,
  getHead,
  listLedgerKeys,
  type StoredReceipt,
} from "../receipts/mod.ts";
import { type Hash, isSameHash, verifyRecord } from "../rules/mod.ts";
import { type Inbox, openInbox } from "./_inbox.ts";
import { openPublisher } from "./_publisher.ts";
import { type CheckpointSigner, openCheckpointSigner } from "./checkpoint_signer.ts";
import { readIfPresent } from "./durable_file.ts";
import { parseOwnCheckpoint } from "./note.ts";
import type { LogSettings } from "./settings.ts";
import { countTiledLeaves, createHashReader, storeTiles } from "./stored_log.ts";
import { computeEdgeRoot, computeRootAt, growEdge, readEdge } from "./tiles.ts";

/** The stored receipts are not those that the log has signed. It signs no more until somebody has looked. */
export class LogBroken extends Error {
  override readonly name = "LogBroken";
}

/** Options of {@linkcode openLog}. */
export interface LogOptions extends LogSettings {
  /** A store of role `sequencer`. */
  readonly store: Store;
  readonly signal: AbortSignal;
  /** Called with what goes wrong. The log goes on, except after {@linkcode LogBroken}. */
  readonly onTrouble: (error: unknown) => void;
}

/** A Merkle log that follows the chain. */
export interface LogWriter {
  /**
   * Adds leaves that were committed to the chain. It only saves time: other leaves are read from the database.
   *
   * @param position of the first leaf
   */
  add(position: number, leaves: readonly Hash[]): void;
  /** Settles when the signal has ended the log, with the last checkpoint signed. */
  readonly ended: Promise<void>;
}

const PAGE_SIZE = 500;
const CHECKPOINT_INTERVAL_MS = 1_000;
const POLL_MS = 2_000;
const RETRY_MS = 1_000;
const EMPTY_ROOT: Hash = sha256(new Uint8Array());

/**
 * Opens the chain's Merkle log: full tiles go to the database, and at most once a second a checkpoint is signed, written
 * to a file, cosigned by the witnesses, and published once enough of them have.
 *
 * At its start it checks that the log it has signed last is the beginning of what is stored. Where the database has lost
 * its end or was changed, it reports that and signs nothing. So no two checkpoints of one key contradict each other.
 */
export function openLog(options: LogOptions): LogWriter {
  const { signal, onTrouble } = options;
  const signer = openCheckpointSigner(options);
  const inbox = openInbox(signal);
  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await follow(options, signer, inbox);
      } catch (error) {
        onTrouble(error);
        if (error instanceof LogBroken) return;
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }
  return { add: inbox.add, ended: run() };
}

/** Describes how the stored chain contradicts the last signed checkpoint; undefined: it does not. */
export async function findContradiction(
  store: Store,
  { keyFile, checkpointFile }: Pick<LogSettings, "keyFile" | "checkpointFile">,
): Promise<string | undefined> {
  const note = await readIfPresent(checkpointFile);
  if (note === undefined) return undefined;
  const signed = parseOwnCheckpoint(note, loadSigningKey(keyFile).publicKey);
  const { size } = await getHead(store);
  if (signed.size > size) {
    return `The ledger has ${size} receipts, and a checkpoint was signed of ${signed.size}: its end is missing`;
  }
  const root = signed.size === 0
    ? EMPTY_ROOT
    : await computeRootAt(signed.size, createHashReader(store), sha256);
  return isSameHash(root, signed.root)
    ? undefined
    : `The first ${signed.size} receipts are not those of which a checkpoint was signed`;
}

/** Verifies receipts that the sequencer of this process has not sealed itself. @throws {LogBroken} one does not hold */
async function requireValid(store: Store, receipts: readonly StoredReceipt[]): Promise<void> {
  const keys = await listLedgerKeys(store);
  const [broken] = await findStoredKeyBreaks(store, keys);
  if (broken && broken.position <= receipts.at(-1)!.position) {
    throw new LogBroken(`Position ${broken.position}: ${broken.reason}`);
  }
  const { position: first } = receipts[0]!;
  let [before] = await exportReceipts(store, { from: first - 1, to: first });
  for (const receipt of receipts) {
    const { position, text } = receipt;
    const place = { position, previousHash: before?.hash ?? "", previousEra: before?.era };
    const { verified, reasons } = verifyRecord(text, place, keys, NODE_PRIMITIVES).verdict;
    if (!verified) throw new LogBroken(`Receipt ${position} does not hold: ${reasons.join("; ")}`);
    before = receipt;
  }
}

/** Follows the chain until the signal ends it. @throws {LogBroken} @throws whatever the database throws */
async function follow(
  options: LogOptions,
  signer: CheckpointSigner,
  inbox: Inbox,
): Promise<void> {
  const { store, signal } = options;
  const publisher = openPublisher(options, signer);
  let size = await countTiledLeaves(store);
  const edge = await readEdge(size, createHashReader(store));
  let publishedSize = -1;

  async function grow(leaves: readonly Hash[]): Promise<void> {
    await storeTiles(store, growEdge(edge, size, leaves, sha256));
    size += leaves.length;
  }

  async function catchUp(chainSize: number): Promise<void> {
    for (let leaves = inbox.take(size); leaves; leaves = inbox.take(size)) await grow(leaves);
    const target = Math.max(chainSize, inbox.size());
    while (size < target && !signal.aborted) {
      const to = Math.min(target, size + PAGE_SIZE);
      const receipts = await exportReceipts(store, { from: size, to });
      if (receipts[0]?.position !== size) throw new LogBroken(`There is no receipt ${size}`);
      await requireValid(store, receipts);
      await grow(receipts.map(computeLeafHash));
    }
  }

  async function sign(): Promise<void> {
    const isPublished = await publisher.publish(size, computeEdgeRoot(edge, sha256) ?? EMPTY_ROOT);
    if (isPublished) publishedSize = size; // else it is tried again, with what was sealed meanwhile
  }

  await catchUp((await getHead(store)).size);
  const contradiction = await findContradiction(store, options);
  if (contradiction !== undefined) throw new LogBroken(contradiction);
  await publisher.greet();
  while (!signal.aborted) {
    if (publishedSize < size) {
      await sign();
      await sleep(CHECKPOINT_INTERVAL_MS, undefined, { signal }).catch(() => {});
    }
    const isTold = await inbox.wait(POLL_MS);
    await catchUp(isTold ? 0 : (await getHead(store)).size);
  }
  await catchUp(0);
  if (publishedSize < size) await sign();
}

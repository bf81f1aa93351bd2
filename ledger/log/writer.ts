import { setTimeout as sleep } from "node:timers/promises";
import { computeLeafHash, loadSigningKey, sha256, type SigningKey } from "../crypto/mod.ts";
import { type Hash, isSameHash } from "../rules/mod.ts";
import { readIfPresent, writeDurably } from "./durable_file.ts";
import { countTiledLeaves, createHashReader, getPublishedCheckpoint } from "./stored_log.ts";
import {
  buildConsistencyProof,
  computeEdgeRoot,
  computeRootAt,
  type Edge,
  growEdge,
  readEdge,
  type Tile,
} from "./tiles.ts";
import {
  formatCheckpoint,
  formatSignature,
  formatVerifierKey,
  type NoteKey,
  parseCheckpoint,
  parseNote,
  parseOwnCheckpoint,
  signNote,
} from "./note.ts";
import { cosign, type Witness } from "./witness.ts";
import { exportReceipts, getHead } from "../receipts/mod.ts";
import { createTimeoutSignal } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import type { LogSettings } from "./settings.ts";

/** What is stored is not what the log has signed. It signs no more until somebody has looked. */
export class LogBroken extends Error {
  override readonly name = "LogBroken";
}

/** What a writer of the log needs. */
export interface LogOptions extends LogSettings {
  /** Of role `sequencer`. */
  readonly store: Store;
  readonly signal: AbortSignal;
  /** Told of what goes wrong; the log goes on, unless it is {@linkcode LogBroken}. */
  readonly onTrouble: (error: unknown) => void;
}

/** A Merkle log that follows the chain. */
export interface LogWriter {
  /**
   * Adds leaves that were committed to the chain. It is only faster: what is not added is read from the database.
   *
   * @param position of the first
   */
  add(position: number, leaves: readonly Hash[]): void;
  /** When the signal has ended it, with the last checkpoint signed. */
  readonly ended: Promise<void>;
}

const PAGE = 500;
/** Leaves that wait in memory at the most. */
const MOST_WAITING = 65_536;
const BETWEEN_CHECKPOINTS_MS = 1_000;
const LOOK_MS = 2_000;
const RETRY_MS = 1_000;
const WITNESS_MS = 5_000;

/**
 * Makes the chain's Merkle log: full tiles go to the database, and at most once a second a checkpoint is signed, kept in a
 * file, cosigned by the witnesses, and published.
 *
 * At its start it sees that the log which it has signed last is the beginning of what is stored; where the database has
 * lost its end or was changed, it says so and signs nothing. So no two checkpoints of one key contradict each other.
 */
export function openLog(options: LogOptions): LogWriter {
  const { signal, onTrouble } = options;
  const key = loadSigningKey(options.keyFile);
  const inbox = openInbox(signal);
  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await follow(options, key, inbox);
      } catch (error) {
        onTrouble(error);
        if (error instanceof LogBroken) return;
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }
  return { add: inbox.add, ended: run() };
}

/** Says what of the stored chain contradicts the checkpoint that was kept; undefined: nothing does. */
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
    ? EMPTY
    : await computeRootAt(signed.size, createHashReader(store), sha256);
  return isSameHash(root, signed.root)
    ? undefined
    : `The first ${signed.size} receipts are not those of which a checkpoint was signed`;
}

const EMPTY: Hash = sha256(new Uint8Array());

async function follow(options: LogOptions, key: SigningKey, inbox: Inbox): Promise<void> {
  const { store, signal } = options;
  let size = await countTiledLeaves(store);
  const edge = await readEdge(size, createHashReader(store));
  let total = Math.max(size, (await getHead(store)).size);
  const grow = async (leaves: readonly Hash[]) => {
    await storeTiles(store, growEdge(edge, size, leaves, sha256));
    size += leaves.length;
  };
  const catchUp = async () => {
    for (let waiting = inbox.take(size); waiting; waiting = inbox.take(size)) await grow(waiting);
    total = Math.max(total, inbox.seen());
    while (size < total && !signal.aborted) {
      const found = await exportReceipts(store, { from: size, to: Math.min(total, size + PAGE) });
      if (found[0]?.position !== size) throw new LogBroken(`There is no receipt ${size}`);
      await grow(found.map(computeLeafHash));
    }
  };
  await catchUp();
  const wrong = await findContradiction(store, options);
  if (wrong !== undefined) throw new LogBroken(wrong);
  const publish = publisher(options, key);
  let signed = -1;
  while (!signal.aborted) {
    if (signed < size) {
      await publish(size, rootOf(edge), createHashReader(store));
      signed = size;
      await inbox.pause(BETWEEN_CHECKPOINTS_MS);
    }
    if (!await inbox.came(LOOK_MS)) total = (await getHead(store)).size;
    await catchUp();
  }
  await catchUp();
  if (signed < size) await publish(size, rootOf(edge), createHashReader(store));
}

const rootOf = (edge: Edge): Hash => computeEdgeRoot(edge, sha256) ?? EMPTY;

async function storeTiles({ pool }: Store, tiles: readonly Tile[]): Promise<void> {
  if (tiles.length === 0) return;
  await pool.query({
    name: "log_tiles",
    text: `INSERT INTO log_tiles (level, n, hashes, root)
           SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bytea[])
           ON CONFLICT (level, n) DO NOTHING`,
    values: [
      tiles.map(({ level }) => level),
      tiles.map(({ n }) => n),
      tiles.map(({ hashes }) => Buffer.concat(hashes)),
      tiles.map(({ root }) => Buffer.from(root)),
    ],
  });
}

/** Signs, keeps, has cosigned, and publishes; in this order, so that nothing published is forgotten. */
function publisher(options: LogOptions, { privateKey, publicKey }: SigningKey) {
  const { store, origin, checkpointFile, witnesses, onTrouble } = options;
  const key: NoteKey = { name: origin, publicKey, kind: "log" };
  const known = new Map<Witness, number>();
  return async (
    size: number,
    root: Hash,
    read: ReturnType<typeof createHashReader>,
  ): Promise<void> => {
    const published = await getPublishedCheckpoint(store);
    if (published && isOf(published.note, { origin, size })) return;
    const signed = signNote(formatCheckpoint({ origin, size, root }), key, privateKey);
    await writeDurably(checkpointFile, signed);
    const request = {
      note: signed,
      size,
      prove: (old: number) => buildConsistencyProof(old, size, read, sha256),
      signal: createTimeoutSignal(WITNESS_MS),
    };
    const cosignatures = await Promise.all(witnesses.map(async (witness) => {
      try {
        const { value } = await cosign(witness, request, known.get(witness));
        known.set(witness, size);
        return formatSignature(witness.key, value);
      } catch (error) {
        onTrouble(error);
        return "";
      }
    }));
    await store.pool.query({
      name: "log_publish",
      text: `INSERT INTO log_checkpoint (size, root, note, verifier_key) VALUES ($1, $2, $3, $4)
             ON CONFLICT (one) DO UPDATE SET size = excluded.size, root = excluded.root,
               note = excluded.note, verifier_key = excluded.verifier_key, signed_at = now()`,
      values: [size, Buffer.from(root), signed + cosignatures.join(""), formatVerifierKey(key)],
    });
  };
}

function isOf(note: string, { origin, size }: { origin: string; size: number }): boolean {
  const checkpoint = parseCheckpoint(parseNote(note).text);
  return checkpoint.origin === origin && checkpoint.size === size;
}

interface Inbox {
  add(position: number, leaves: readonly Hash[]): void;
  /** Leaves from a position on; undefined: none wait, or others do. */
  take(position: number): Hash[] | undefined;
  /** How far the chain is, as far as was told. */
  seen(): number;
  /** Waits until something was added, at the most so long. @returns whether it was */
  came(milliseconds: number): Promise<boolean>;
  pause(milliseconds: number): Promise<void>;
}

function openInbox(signal: AbortSignal): Inbox {
  let first = 0;
  let waiting: Hash[] = [];
  let end = 0;
  let wake = () => {};
  signal.addEventListener("abort", () => wake());
  return {
    add(position, leaves) {
      if (waiting.length > 0 && position !== first + waiting.length) waiting = []; // a gap: they are read anew
      if (waiting.length === 0) first = position;
      if (waiting.length < MOST_WAITING) waiting.push(...leaves);
      end = position + leaves.length;
      wake();
    },
    take(position) {
      const from = position - first;
      const fit = from >= 0 && from < waiting.length ? waiting.slice(from) : undefined;
      waiting = [];
      return fit;
    },
    seen: () => end,
    async came(milliseconds) {
      if (waiting.length > 0 || signal.aborted) return true;
      let timer: NodeJS.Timeout | undefined;
      const woken = await new Promise<boolean>((resolve) => {
        wake = () => resolve(true);
        timer = setTimeout(() => resolve(false), milliseconds);
      });
      clearTimeout(timer);
      return woken;
    },
    pause: (milliseconds) => sleep(milliseconds, undefined, { signal }).catch(() => {}),
  };
}

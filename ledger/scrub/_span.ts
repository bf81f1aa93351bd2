import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { computeLeafHash, NODE_PRIMITIVES } from "../crypto/mod.ts";
import { TILE_WIDTH } from "../log/mod.ts";
import {
  type Break,
  type Checks,
  type Hash,
  isSameHash,
  type Place,
  type TrustedKey,
  verifyRecord,
} from "../rules/mod.ts";
import { exportReceipts, listLedgerKeys, type StoredReceipt } from "../receipts/mod.ts";
import type { Store } from "../../store/mod.ts";

/**
 * What did not hold: a check of the receipt itself; `columns` (the row says other than its record), `missing`, `head`,
 * `log` (the Merkle log has another), `keys` (another key is published than before), `anchor` (what is anchored in
 * Bitcoin is another).
 */
export type FailedCheck = keyof Checks | "columns" | "missing" | "head" | "log" | "keys" | "anchor";

/** Where the stored chain does not hold, and in what respect. */
export interface LedgerBreak extends Break {
  readonly check: FailedCheck;
  /** As the row says it; null: there is none. */
  readonly receiptId: string | null;
}

/** A part of the stored chain that is to be verified. */
export interface SpanRequest {
  /** Where it begins, and what its first receipt is linked to. */
  readonly from: Place;
  /** Exclusive. */
  readonly to: number;
  /** It ends after about as many receipts, > 0; default: only there. */
  readonly most?: number;
  /** Most of the time that may be spent on verifying, of a core; > 0, ≤ 1. */
  readonly share: number;
  readonly signal?: AbortSignal;
  /** Told each receipt's leaf of the Merkle log, in order; a record that has none is left out. */
  readonly onLeaf?: (position: number, leaf: Hash) => void;
}

/** What was found in a part. */
export interface SpanResult {
  /** The place after it. */
  readonly place: Place;
  readonly breaks: LedgerBreak[];
}

const PAGE = 500;
const PAGE_BYTES = 4 * 1024 * 1024;
/** Longest that verifying holds up whatever else this process does, milliseconds. */
const SLICE_MS = 5;

/**
 * Verifies what is stored, row by row: each receipt by the rules of its era, its row's columns by its record, and that
 * none is missing.
 */
export async function verifySpan(
  store: Store,
  { from, to, most = Infinity, share, signal, onLeaf }: SpanRequest,
): Promise<SpanResult> {
  const breaks: LedgerBreak[] = [];
  const breathe = breathing(share);
  let place = from;
  let verified = 0;
  while (place.position < to && verified < most) {
    signal?.throwIfAborted();
    const { position } = place;
    const page = await exportReceipts(
      store,
      { from: position, to: Math.min(to, position + PAGE) },
      PAGE_BYTES,
    );
    const [keys, behind] = await Promise.all([
      listLedgerKeys(store),
      behindOriginals(store, position, page.at(-1)?.position ?? -1),
    ]);
    const next = page[0]?.position ?? await firstFrom(store, position, to);
    if (next !== position) place = missing(next);
    for (const receipt of page) {
      if (receipt.position !== place.position) place = missing(receipt.position);
      const { found, after } = verifyStoredReceipt(receipt, place, keys);
      const broken = found ?? otherBehind(receipt, behind.get(receipt.position));
      if (broken) breaks.push(broken);
      place = after;
      if (onLeaf) tellLeaf(receipt, onLeaf);
      await breathe();
    }
    verified += page.length;
  }
  return { place, breaks };

  function missing(next: number): Place {
    const { position } = place;
    const reason = next - position === 1 ? "Missing" : `Missing, with all up to ${next - 1}`;
    breaks.push({ position, check: "missing", reason, receiptId: null });
    return { ...place, position: next };
  }
}

/** Verifies one row. @returns what is wrong with it, and the place after it */
export function verifyStoredReceipt(
  receipt: StoredReceipt,
  place: Place,
  keys: readonly TrustedKey[],
): { found: LedgerBreak | undefined; after: Place } {
  const { position, id } = receipt;
  const { verdict, hash, era } = verifyRecord(receipt.text, place, keys, NODE_PRIMITIVES);
  const after = { position: position + 1, previousHash: hash, previousEra: era };
  const columns = era === undefined ? [] : wrongColumns(receipt, era);
  const reasons = [
    ...verdict.reasons,
    ...columns.map((column) => `The column ${column} says other than the record`),
  ];
  if (reasons.length === 0) return { found: undefined, after };
  const failed = CHECKS.find((check) => verdict.checks[check] === "fail");
  const check: FailedCheck = failed ?? (columns.length > 0 ? "columns" : "canonical");
  const found = { position, check, reason: asText(reasons.join("; ")), receiptId: asText(id) };
  return { found, after };
}

const CHECKS = ["hash", "canonical", "signature", "link"] as const;

function wrongColumns(receipt: StoredReceipt, era: number): string[] {
  let record: Record<string, unknown>;
  try {
    record = JSON.parse(receipt.text);
  } catch {
    return []; // which is reported already
  }
  const { id, category, hash_sha256 } = record;
  const said = { id, category, hash: hash_sha256, era };
  return Object.entries(said)
    .filter(([column, value]) => receipt[column as keyof typeof said] !== value)
    .map(([column]) => column);
}

/** What is kept of a receipt besides the text that it was imported with. */
interface Behind {
  /** Hex. */
  readonly record: string;
  readonly signature: string;
}

/** Receipts of these positions, both inclusive, whose text is not made from the rest of their row. */
async function behindOriginals(
  { pool }: Store,
  from: number,
  to: number,
): Promise<ReadonlyMap<number, Behind>> {
  const { rows } = await pool.query({
    name: "scrub_originals",
    text: `SELECT position, encode(record, 'hex') AS record, encode(signature, 'hex') AS signature
           FROM receipts WHERE position >= $1 AND position <= $2 AND era = 3 AND original IS NOT NULL`,
    values: [from, to],
  });
  return new Map(rows.map(({ position, ...behind }) => [Number(position), behind]));
}

/** Compares the row with the text, which was verified. */
function otherBehind(
  { position, id, text }: StoredReceipt,
  behind: Behind | undefined,
): LedgerBreak | undefined {
  if (!behind) return undefined;
  const { canonical_bytes, signature } = JSON.parse(text);
  if (behind.record === canonical_bytes && behind.signature === signature.value) return undefined;
  const reason = "The row's bytes or signature are not those of the record";
  return { position, check: "columns", reason, receiptId: asText(id) };
}

/** What somebody wrote into the database may be anything; this can be stored, shown and sent. */
function asText(text: string): string {
  // deno-lint-ignore no-control-regex -- they are what is to be replaced
  return text.replace(/[\u0000-\u001f\u007f]/g, "\ufffd").slice(0, 500).toWellFormed();
}

function tellLeaf(receipt: StoredReceipt, onLeaf: NonNullable<SpanRequest["onLeaf"]>): void {
  let leaf: Hash;
  try {
    leaf = computeLeafHash(receipt);
  } catch {
    return; // the record has no canonical form, which is reported already
  }
  onLeaf(receipt.position, leaf);
}

/** The first position that there is from one on; the end where there is none. */
async function firstFrom({ pool }: Store, position: number, to: number): Promise<number> {
  const { rows: [row] } = await pool.query(
    "SELECT min(position) AS first FROM receipts WHERE position >= $1 AND position < $2",
    [position, to],
  );
  return row.first === null ? to : Number(row.first);
}

/** Gives a function that lets others work after each slice, for so long that the share is kept. */
function breathing(share: number): () => Promise<void> {
  let began = performance.now();
  return async () => {
    const worked = performance.now() - began;
    if (worked < SLICE_MS) return;
    const rest = worked * (1 / share - 1);
    await (rest >= 1 ? sleep(rest) : turn());
    began = performance.now();
  };
}

/** Which of these leaves are others than those in the full tiles that are stored. */
export async function findTileMismatches(
  { pool }: Store,
  leaves: ReadonlyMap<number, Hash>,
): Promise<number[]> {
  const tileOf = (position: number) => Math.floor(position / TILE_WIDTH);
  const { rows } = await pool.query({
    name: "scrub_tiles",
    text: "SELECT n, hashes FROM log_tiles WHERE level = 0 AND n = ANY ($1::bigint[])",
    values: [[...new Set([...leaves.keys()].map(tileOf))]],
  });
  const tiles = new Map<number, Buffer>(rows.map((row) => [Number(row.n), row.hashes]));
  return [...leaves].flatMap(([position, leaf]) => {
    const start = position % TILE_WIDTH * 32;
    const stored = tiles.get(tileOf(position))?.subarray(start, start + 32);
    return stored && !isSameHash(leaf, stored) ? [position] : [];
  });
}

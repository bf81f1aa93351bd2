import { setImmediate as endOfTurn, setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../store/mod.ts";
import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import { exportReceipts, listEnrolments, listLedgerKeys } from "../receipts/mod.ts";
import { findPlaceBreaks, followSpan, type Hash, type Place } from "../rules/mod.ts";
import { checkImportedBytes, followStoredReceipt, readImportedBytes } from "./_receipt_check.ts";
import { type LedgerBreak, ledgerBreak } from "./breaks.ts";

/** A part of the stored chain to verify. */
export interface SpanRequest {
  /** The place of its first receipt. */
  readonly from: Place;
  /** Exclusive. */
  readonly to: number;
  /** Maximum receipts to verify, > 0. Default: no limit. */
  readonly maxReceipts?: number;
  /** Maximum share of a core that verifying may use; > 0, ≤ 1. */
  readonly share: number;
}

/** The result of verifying a part. */
export interface SpanResult {
  /** The place after it. */
  readonly place: Place;
  /** Number of receipts that were there and were verified. */
  readonly verified: number;
  readonly breaks: LedgerBreak[];
}

const PAGE = 500;
const PAGE_BYTES = 4 * 1024 * 1024;
/** Maximum time between two pauses in which the process does other work. */
const SLICE_MS = 5;

/**
 * Verifies a part of the stored chain: that no receipt is missing, and that each one holds.
 *
 * @param onLeaf called with the leaf in the Merkle log of each receipt that has one, in order
 */
export async function verifySpan(
  store: Store,
  { from, to, maxReceipts = Infinity, share }: SpanRequest,
  { signal, onLeaf }: {
    readonly signal?: AbortSignal;
    readonly onLeaf?: (position: number, leaf: Hash) => void;
  } = {},
): Promise<SpanResult> {
  const breaks: LedgerBreak[] = [];
  const pause = createPacer(share);
  let place = from;
  let verified = 0;
  while (place.position < to && verified < maxReceipts) {
    signal?.throwIfAborted();
    const { position } = place;
    const limit = Math.min(PAGE, maxReceipts - verified);
    const range = { from: position, to: Math.min(to, position + limit) };
    const page = await exportReceipts(store, range, PAGE_BYTES);
    const [keys, enrolled, imported] = await Promise.all([
      listLedgerKeys(store),
      listEnrolments(store),
      readImportedBytes(store, position, page.at(-1)?.position ?? -1),
    ]);
    const span = followSpan(place, keys, NODE_PRIMITIVES, { wantsLeaves: onLeaf !== undefined });
    for (const receipt of page) {
      const { broken, leaf } = followStoredReceipt(span, receipt);
      const bytes = imported.get(receipt.position);
      const found = broken ?? (bytes && checkImportedBytes(receipt, bytes));
      if (found) breaks.push(found);
      if (leaf) onLeaf?.(receipt.position, leaf);
      await pause();
    }
    if (page.length === 0) span.skipTo(await findNextPosition(store, position, to));
    const strange = findPlaceBreaks({ ...span.places, enrolled });
    breaks.push(...strange.map((one) => ledgerBreak(one.position, "signature", one.reason)));
    const missing = span.breaks.filter(({ kind }) => kind === "missing");
    breaks.push(...missing.map((gap) => ledgerBreak(gap.position, "missing", gap.reason)));
    place = span.place();
    verified += page.length;
  }
  return { place, verified, breaks: breaks.sort((a, b) => a.position - b.position) };
}

/** Finds the first stored position of a range. @returns `to` if there is none */
async function findNextPosition(store: Store, from: number, to: number): Promise<number> {
  const row = await store.asPlatform().first(
    "SELECT min(position) AS first FROM receipts WHERE position >= $1 AND position < $2",
    [from, to],
  );
  return row!.first === null ? to : Number(row!.first);
}

/** Creates a function to call often: it pauses after each slice, for long enough to keep to the share of a core. */
function createPacer(share: number): () => Promise<void> {
  let started = performance.now();
  return async () => {
    const worked = performance.now() - started;
    if (worked < SLICE_MS) return;
    const rest = worked * (1 / share - 1);
    await (rest >= 1 ? sleep(rest) : endOfTurn());
    started = performance.now();
  };
}

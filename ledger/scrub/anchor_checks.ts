import type { Store } from "../../store/mod.ts";
import {
  anchorReceiptId,
  getAnchorTotals,
  listLeaves,
  nativeSha256,
  splitDigests,
} from "../anchors/mod.ts";
import {
  BadHeader,
  BadTimestamp,
  listAttestations,
  parseHeader,
  parseTimestamp,
  SUBTREE_SIZE,
  treeRoot,
} from "../anchors/ots/mod.ts";
import { exportReceipts } from "../receipts/mod.ts";
import { type LedgerBreak, ledgerBreak } from "./breaks.ts";

interface StoredBatch {
  readonly first: number;
  readonly last: number;
  readonly root: Buffer;
  readonly subroots: Buffer;
  readonly state: "open" | "pending" | "confirmed";
  readonly proof: Buffer | null;
  readonly block_height: string | null;
  readonly block_header: Buffer | null;
  readonly block_hash: string | null;
}

/** Positions of receipts. */
interface PositionRange {
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/**
 * Compares the batches anchored in Bitcoin with the receipts: each receipt up to the newest batch is in one, the roots
 * are those of the receipts, and a confirmed batch is as it was sealed, with a proof that leads to its block.
 *
 * @param broken positions of receipts that do not hold; roots over them are not compared
 */
export async function checkAnchors(
  store: Store,
  range: PositionRange,
  broken: ReadonlySet<number>,
): Promise<LedgerBreak[]> {
  const { nextPosition } = await getAnchorTotals(store); // before the batches, or newer ones would seem to lack receipts
  const batches = await listBatches(store, range);
  const breaks = findGaps(batches, { from: range.from, to: Math.min(range.to, nextPosition) });
  for (const batch of batches) {
    breaks.push(...await checkSubtrees(store, batch, range, broken));
    if (batch.first >= range.from && batch.first < range.to) {
      const reason = checkRoot(batch) ?? await checkConfirmation(store, batch);
      if (reason) breaks.push(ledgerBreak(batch.first, "anchor", reason));
    }
  }
  return breaks;
}

/** Compares the stored totals of all batches with the batches. */
export async function checkAnchorTotals(store: Store): Promise<LedgerBreak[]> {
  const row = await store.asPlatform().first(
    `SELECT (SELECT concat_ws(' ', confirmed, anchored_receipts, next_position) FROM anchor_head) AS stored,
       (SELECT concat_ws(' ', count(*) FILTER (WHERE state = 'confirmed'),
         coalesce(sum(last - first + 1) FILTER (WHERE state = 'confirmed'), 0),
         coalesce(max(last) + 1, 0)) FROM anchors) AS counted`,
  );
  if (row!.stored === row!.counted) return [];
  return [ledgerBreak(0, "anchor", "The totals of the anchors are not those of the batches")];
}

/** Lists the batches that contain a position of the range, or the one before it, in order. */
async function listBatches(store: Store, { from, to }: PositionRange): Promise<StoredBatch[]> {
  const rows = await store.asPlatform().query<StoredBatch>(
    `SELECT first, last, root, subroots, state, proof, block_height, block_header, block_hash
     FROM anchors WHERE first < $2 AND last >= $1 ORDER BY first`,
    [from - 1, to],
  );
  return rows.map((row) => ({ ...row, first: Number(row.first), last: Number(row.last) }));
}

/** Finds receipts that are in no batch; one break for each gap. */
function findGaps(batches: readonly StoredBatch[], { from, to }: PositionRange): LedgerBreak[] {
  const isInBatch = (position: number) =>
    batches.some(({ first, last }) => first <= position && position <= last);
  return [0, ...batches.map(({ last }) => last + 1)]
    .filter((position) => position >= from && position < to && !isInBatch(position))
    .map((position) =>
      ledgerBreak(position, "anchor", "It is in no anchored batch, but later receipts are")
    );
}

/** Compares the root of each subtree that ends within the range with its receipts. */
async function checkSubtrees(
  store: Store,
  { first, last, subroots }: StoredBatch,
  range: PositionRange,
  broken: ReadonlySet<number>,
): Promise<LedgerBreak[]> {
  const breaks: LedgerBreak[] = [];
  const roots = splitDigests(subroots);
  const start = Math.max(0, Math.floor((range.from - first) / SUBTREE_SIZE));
  for (let n = start; n < roots.length; n++) {
    const from = first + n * SUBTREE_SIZE;
    const to = Math.min(from + SUBTREE_SIZE, last + 1);
    if (to > range.to || from >= to) break;
    if (to <= range.from) continue;
    if ([...broken].some((position) => from <= position && position < to)) continue;
    const leaves = await listLeaves(store.asPlatform(), { from, to });
    const isSame = leaves.length === to - from && roots[n]!.equals(treeRoot(leaves, nativeSha256));
    if (isSame) continue;
    const reason = `Receipts ${from} to ${to - 1} are not those that were anchored`;
    breaks.push(ledgerBreak(from, "anchor", reason));
  }
  return breaks;
}

/** Compares the root of a batch with those of its subtrees. @returns what is wrong */
function checkRoot({ first, last, root, subroots }: StoredBatch): string | undefined {
  const batch = `The batch of receipts ${first} to ${last}`;
  if (subroots.length !== 32 * Math.ceil((last - first + 1) / SUBTREE_SIZE)) {
    return `${batch} has the wrong number of subtree roots`;
  }
  if (root.equals(treeRoot(splitDigests(subroots), nativeSha256))) return undefined;
  return `${batch} has a root that is not that of its receipts`;
}

/** Compares the state of a batch with its proof and with its sealed receipt. @returns what is wrong */
async function checkConfirmation(store: Store, batch: StoredBatch): Promise<string | undefined> {
  const { first, last, root, block_height, block_hash } = batch;
  const id = anchorReceiptId(first, root.toString("hex"));
  const row = await store.asPlatform().first(
    // One statement, as the batch may be confirmed and sealed at this moment.
    `SELECT (SELECT state FROM anchors WHERE first = $1) AS state,
       (SELECT position FROM receipts WHERE id = $2) AS position,
       EXISTS (SELECT 1 FROM seal_outbox WHERE id = $2) AS is_queued`,
    [first, id],
  );
  const { state, position, is_queued } = row!;
  const name = `The batch of receipts ${first} to ${last}`;
  if (state !== "confirmed") {
    return position === null ? checkProof(batch, name) : `${name} was sealed as confirmed`;
  }
  if (batch.state !== "confirmed") return undefined; // it was confirmed after it was listed
  if (position === null) {
    return is_queued ? undefined : `${name} is confirmed, but no receipt says so`;
  }
  const range = { from: Number(position), to: Number(position) + 1 };
  const [receipt] = await exportReceipts(store, range);
  const sealed = parseDetails(receipt?.text);
  const stored = {
    first,
    last,
    root: root.toString("hex"),
    block_hash,
    block_height: Number(block_height),
  };
  const different = Object.entries(stored).filter(([field, value]) => sealed[field] !== value);
  if (different.length > 0) {
    return `${name} was sealed with other values of ${
      different.map(([field]) => field).join(", ")
    }`;
  }
  return checkProof(batch, name);
}

function parseDetails(text = "{}"): Record<string, unknown> {
  try {
    return JSON.parse(text).details ?? {};
  } catch {
    return {}; // verifying the receipt reports that
  }
}

/** Checks that the proof can be read and, if the batch is confirmed, leads to its block. @returns what is wrong */
function checkProof(batch: StoredBatch, name: string): string | undefined {
  const { root, state, proof, block_height, block_header, block_hash } = batch;
  try {
    if (!proof) return state === "open" ? undefined : `${name} has no proof`;
    const attested = listAttestations(parseTimestamp(proof, root.length), root);
    if (state !== "confirmed") return undefined;
    const { hash, merkleRoot } = parseHeader(block_header ?? Buffer.alloc(0));
    if (hash !== block_hash) return `${name} has the header of another block`;
    const leadsToBlock = attested.some(({ attestation, message }) =>
      attestation.kind === "bitcoin" && attestation.height === Number(block_height) &&
      Buffer.compare(message, merkleRoot) === 0
    );
    return leadsToBlock ? undefined : `${name} has a proof that does not lead to its block`;
  } catch (error) {
    if (error instanceof BadTimestamp || error instanceof BadHeader) {
      return `${name}: ${error.message}`;
    }
    throw error;
  }
}

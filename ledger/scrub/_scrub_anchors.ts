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
import type { LedgerBreak } from "./_span.ts";

interface Batch {
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

/** Positions; `from` inclusive, `to` exclusive. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Compares the batches of receipts that are anchored in Bitcoin with the receipts: that each receipt up to the newest batch
 * is in one, that the roots are theirs, and that what is confirmed is what was sealed and leads to its block.
 *
 * @param broken positions of receipts that do not hold themselves; roots over these are not judged
 */
export async function anchorBreaks(
  store: Store,
  span: Span,
  broken: ReadonlySet<number>,
): Promise<LedgerBreak[]> {
  const { nextPosition } = await getAnchorTotals(store); // before the batches, which are added with it
  const batches = await batchesOf(store, span);
  const found = gaps(batches, { from: span.from, to: Math.min(span.to, nextPosition) });
  for (const batch of batches) {
    found.push(...await wrongPieces(store, batch, span, broken));
    if (batch.first >= span.from && batch.first < span.to) {
      const reason = wrongRoot(batch) ?? await wrongConfirmation(store, batch);
      if (reason) found.push(ofAnchor(batch.first, reason));
    }
  }
  return found;
}

/** Compares what is told of all batches with these. */
export async function totalsBreaks({ pool }: Store): Promise<LedgerBreak[]> {
  const { rows: [{ told, counted }] } = await pool.query(
    `SELECT (SELECT concat_ws(' ', confirmed, anchored_receipts, next_position) FROM anchor_head) AS told,
       (SELECT concat_ws(' ', count(*) FILTER (WHERE state = 'confirmed'),
         coalesce(sum(last - first + 1) FILTER (WHERE state = 'confirmed'), 0),
         coalesce(max(last) + 1, 0)) FROM anchors) AS counted`,
  );
  if (told === counted) return [];
  return [ofAnchor(0, "The totals of what is anchored are not those of the batches")];
}

/** @returns batches that hold one of the positions, or the one before, in order */
async function batchesOf({ pool }: Store, { from, to }: Span): Promise<Batch[]> {
  const { rows } = await pool.query({
    name: "scrub_anchors",
    text: `SELECT first, last, root, subroots, state, proof, block_height, block_header, block_hash
           FROM anchors WHERE first < $2 AND last >= $1 ORDER BY first`,
    values: [from - 1, to],
  });
  return rows.map((row) => ({ ...row, first: Number(row.first), last: Number(row.last) }));
}

/** Where receipts are in no batch though later ones are, each told where it begins. */
function gaps(batches: readonly Batch[], { from, to }: Span): LedgerBreak[] {
  const isIn = (position: number) =>
    batches.some(({ first, last }) => first <= position && position <= last);
  return [0, ...batches.map(({ last }) => last + 1)]
    .filter((position) => position >= from && position < to && !isIn(position))
    .map((position) => ofAnchor(position, "It is in no anchored batch, and later receipts are"));
}

/** Pieces of a batch that end within a span, and whose receipts do not give their root. */
async function wrongPieces(
  store: Store,
  { first, last, subroots }: Batch,
  span: Span,
  broken: ReadonlySet<number>,
): Promise<LedgerBreak[]> {
  const found: LedgerBreak[] = [];
  const roots = splitDigests(subroots);
  for (let n = Math.max(0, Math.floor((span.from - first) / SUBTREE_SIZE)); n < roots.length; n++) {
    const from = first + n * SUBTREE_SIZE;
    const to = Math.min(from + SUBTREE_SIZE, last + 1);
    if (to > span.to || from >= to) break;
    if (to <= span.from || [...broken].some((position) => from <= position && position < to)) {
      continue;
    }
    const leaves = await listLeaves(store, { from, to });
    if (leaves.length === to - from && roots[n]!.equals(treeRoot(leaves, nativeSha256))) continue;
    found.push(ofAnchor(from, `Receipts ${from} to ${to - 1} are not those that were anchored`));
  }
  return found;
}

function wrongRoot({ first, last, root, subroots }: Batch): string | undefined {
  const what = `The batch of receipts ${first} to ${last}`;
  if (subroots.length !== 32 * Math.ceil((last - first + 1) / SUBTREE_SIZE)) {
    return `${what} has roots of others than these`;
  }
  if (root.equals(treeRoot(splitDigests(subroots), nativeSha256))) return undefined;
  return `${what} has a root that is not that of its receipts`;
}

/** Compares how far a batch is said to be with its proof, and with the receipt that was sealed of it. */
async function wrongConfirmation(store: Store, batch: Batch): Promise<string | undefined> {
  const { first, last, root, block_height, block_hash } = batch;
  const id = anchorReceiptId(first, root.toString("hex"));
  const { rows: [row] } = await store.pool.query({
    name: "scrub_confirmed", // at one moment, as a batch may be confirmed and sealed just now
    text: `SELECT (SELECT state FROM anchors WHERE first = $1) AS state,
             (SELECT position FROM receipts WHERE id = $2) AS position,
             EXISTS (SELECT 1 FROM seal_outbox WHERE id = $2) AS waits`,
    values: [first, id],
  });
  const what = `The batch of receipts ${first} to ${last}`;
  if (row.state !== "confirmed") {
    return row.position === null ? wrongProof(batch, what) : `${what} was sealed as confirmed`;
  }
  if (batch.state !== "confirmed") return undefined; // confirmed a moment ago
  if (row.position === null) {
    return row.waits ? undefined : `${what} is confirmed, and no receipt says so`;
  }
  const position = Number(row.position);
  const [receipt] = await exportReceipts(store, { from: position, to: position + 1 });
  const sealed = detailsOf(receipt?.text);
  const said = { first, last, root: root.toString("hex"), block_hash };
  const others = Object.entries({ ...said, block_height: Number(block_height) })
    .filter(([name, value]) => sealed[name] !== value).map(([name]) => name);
  if (others.length > 0) return `${what} was sealed with other values of ${others.join(", ")}`;
  return wrongProof(batch, what);
}

function detailsOf(text = "{}"): Record<string, unknown> {
  try {
    return JSON.parse(text).details ?? {};
  } catch {
    return {}; // which is reported already
  }
}

/** Whether the proof can be read, and leads to the block where the batch is in one. */
function wrongProof({ root, state, proof, ...block }: Batch, what: string): string | undefined {
  try {
    if (!proof) return state === "open" ? undefined : `${what} has no proof`;
    const attested = listAttestations(parseTimestamp(proof, root.length), root);
    if (state !== "confirmed") return undefined;
    const { hash, merkleRoot } = parseHeader(block.block_header ?? Buffer.alloc(0));
    if (hash !== block.block_hash) return `${what} has the header of another block`;
    const leads = attested.some(({ attestation, message }) =>
      attestation.kind === "bitcoin" && attestation.height === Number(block.block_height) &&
      Buffer.compare(message, merkleRoot) === 0
    );
    return leads ? undefined : `${what} has a proof that does not lead to its block`;
  } catch (error) {
    if (error instanceof BadTimestamp || error instanceof BadHeader) {
      return `${what}: ${error.message}`;
    }
    throw error;
  }
}

const ofAnchor = (position: number, reason: string): LedgerBreak => ({
  ...{ position, check: "anchor", reason, receiptId: null },
});

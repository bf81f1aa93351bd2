import { createHash } from "node:crypto";
import { Problem } from "../../contract/mod.ts";
import type { Row, Store } from "../../store/mod.ts";
import { requestSeal } from "../seal/mod.ts";
import {
  type BatchState,
  type CalendarResponse,
  checkReadable,
  fetchPromised,
  submitRoot,
  tryRemote,
} from "./_calendars.ts";
import { ANCHOR_CONFIRMED } from "./batches.ts";
import {
  type BitcoinSource,
  confirmBlock,
  type ConfirmedBlock,
  graftTimestamp,
  type Network,
  NotConfirmed,
  parseTimestamp,
  pruneTimestamp,
  serializeTimestamp,
  type Timestamp,
} from "./ots/mod.ts";

/** The parts that anchoring works with. */
export interface AnchorParts {
  /** As role `worker`. */
  readonly store: Store;
  /** Addresses without a slash at the end. */
  readonly calendars: readonly string[];
  readonly sources: readonly BitcoinSource[];
  readonly network: Network;
}

/** The progress of a batch after an attempt. */
export interface AnchorProgress {
  readonly state: "open" | "pending" | "confirmed";
  /** Why it is not confirmed; null if it is. */
  readonly error: string | null;
  readonly blockHeight: number | null;
}

/** After this time an attempt checks no further block; the next attempt does. */
const MAX_CHECK_MS = 60_000;
const MAX_ERROR_LENGTH = 1000;

/**
 * Takes a batch one step further: submits it to calendars, fetches what they promised, and verifies that against block
 * headers. When a block stands, the batch is confirmed, and a receipt of that is sealed. Failures of remote servers are
 * noted for the next attempt. Safe to repeat and to run in parallel. Takes at most about two minutes.
 *
 * @param first identifies the batch
 * @throws {Problem} `NotFound`: there is no such batch
 */
export async function advanceAnchor(parts: AnchorParts, first: number): Promise<AnchorProgress> {
  const { store, calendars } = parts;
  const row = await store.asPlatform().first(
    `SELECT first, last, root, state, calendars, proof, submitted_at, block_height
     FROM anchors WHERE first = $1`,
    [first],
  );
  if (!row) throw new Problem("NotFound", `There is no batch of receipts that begins at ${first}`);
  if (row.state === "confirmed") {
    return { state: "confirmed", error: null, blockHeight: Number(row.block_height) };
  }
  const batch = toBatchState(row);
  const failures: string[] = [];
  const proof = await submitRoot(store, calendars, batch, failures);
  const block = proof && await findBlock(parts, batch.root, proof, failures);
  if (block) {
    await confirm(store, { first, last: Number(row.last), root: row.root }, block);
    return { state: "confirmed", error: null, blockHeight: block.height };
  }
  const error = [...new Set(failures)].join("; ").slice(0, MAX_ERROR_LENGTH) ||
    "no calendar is configured";
  await store.asPlatform().execute(
    `UPDATE anchors SET last_error = $2, attempts = attempts + 1
     WHERE first = $1 AND state <> 'confirmed'`,
    [first, error],
  );
  return { state: proof ? "pending" : "open", error, blockHeight: null };
}

function toBatchState({ first, root, calendars, proof, submitted_at }: Row): BatchState {
  return {
    first: Number(first),
    root: new Uint8Array(root),
    acceptedBy: calendars,
    proof: proof ? parseTimestamp(proof, root.length) : undefined,
    submittedAt: submitted_at,
  };
}

/** A block that attests the batch, with the proof that leads to it. */
interface AttestingBlock extends ConfirmedBlock {
  readonly height: number;
  readonly proof: Timestamp;
}

/** Fetches what the calendars promised. @returns the first block that stands */
async function findBlock(
  { calendars, sources, network }: AnchorParts,
  root: Uint8Array,
  proof: Timestamp,
  failures: string[],
): Promise<AttestingBlock | undefined> {
  const confirmed = new Map<number, Promise<ConfirmedBlock>>();
  const blockAt = (height: number) => {
    const block = confirmed.get(height) ?? confirmBlock(sources, height, network);
    confirmed.set(height, block);
    return block;
  };
  const responses = await fetchPromised(calendars, proof, root, failures);
  const claims = responses.flatMap((response) =>
    response.blocks.map((block) => ({ response, block }))
  );
  const deadline = Date.now() + MAX_CHECK_MS;
  for (const { response, block } of claims) {
    if (Date.now() > deadline) {
      failures.push(`checking blocks took over ${MAX_CHECK_MS / 1000} s`);
      return undefined;
    }
    const found = await tryRemote(failures, async () => {
      const standing = await checkBlock(response, block, network, blockAt);
      const path = pruneTimestamp(response.timestamp, (a) => a === block.attestation)!;
      const whole = checkReadable(graftTimestamp(proof, root, response.message, path), root);
      return { ...standing, proof: whole };
    });
    if (found) return found;
  }
  return undefined;
}

/** @throws {NotConfirmed} the block does not count or is too old, or its merkle root is another than the attested one */
async function checkBlock(
  { host }: CalendarResponse,
  { attestation, message }: CalendarResponse["blocks"][number],
  { reachedHeight }: Network,
  blockAt: (height: number) => Promise<ConfirmedBlock>,
) {
  if (attestation.kind !== "bitcoin") throw new NotConfirmed("It is no attestation by Bitcoin");
  const { height } = attestation;
  if (height <= reachedHeight) {
    throw new NotConfirmed(`${host}: it attests block ${height}, which is older than the receipts`);
  }
  const block = await blockAt(height);
  if (Buffer.compare(block.header.merkleRoot, message) === 0) return { height, ...block };
  throw new NotConfirmed(`${host}: it attests block ${height}, whose merkle root is another`);
}

/** Stores the block and requests a receipt of it in one transaction; once, however often it is called. */
async function confirm(
  store: Store,
  batch: { readonly first: number; readonly last: number; readonly root: Buffer },
  { height, header, sources, proof }: AttestingBlock,
): Promise<void> {
  const { first, last } = batch;
  const root = batch.root.toString("hex");
  const blockTime = new Date(header.time * 1000);
  await store.asPlatform().transaction(async (trx) => {
    const changed = await trx.execute(
      `UPDATE anchors SET state = 'confirmed', proof = $2, attempts = attempts + 1,
         last_error = NULL, confirmed_at = now(),
         block_height = $3, block_header = $4, block_hash = $5, block_time = $6
       WHERE first = $1 AND state <> 'confirmed'`,
      [first, serializeTimestamp(proof), height, header.bytes, header.hash, blockTime],
    );
    if (changed === 0) return;
    await trx.execute(
      `UPDATE anchor_head SET confirmed = confirmed + 1,
         anchored_receipts = anchored_receipts + $1`,
      [last - first + 1],
    );
    await requestSeal(trx, {
      id: anchorReceiptId(first, root),
      category: ANCHOR_CONFIRMED,
      actor: "ledger-anchor",
      subject: `${first}-${last}`,
      action: "anchor.confirm",
      outcome: "confirmed",
      details: {
        first,
        last,
        root,
        sources,
        block_height: height,
        block_hash: header.hash,
        block_time: blockTime.toISOString(),
      },
    });
  });
}

/** Returns the id of the receipt that says that a batch is in a block. @param root hex */
export function anchorReceiptId(first: number, root: string): string {
  return createHash("sha256").update(`anchor\n${first}\n${root}`).digest("hex").slice(0, 16);
}

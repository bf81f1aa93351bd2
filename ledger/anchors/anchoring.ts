import { createHash } from "node:crypto";
import { requestSeal } from "../seal/mod.ts";
import {
  type BitcoinSource,
  type BlockHeader,
  confirmBlock,
  type ConfirmedBlock,
  graft,
  type Network,
  NotConfirmed,
  parseTimestamp,
  prune,
  serializeTimestamp,
  type Timestamp,
} from "./ots/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { type Store } from "../../store/mod.ts";
import { ANCHOR_CONFIRMED } from "./anchor_batches.ts";
import { type Answer, askAll, type Known, orNote, readable, submit } from "./_promises.ts";

/** What anchoring works with. */
export interface AnchorParts {
  /** As role `app`. */
  readonly store: Store;
  /** Addresses without a slash at the end. */
  readonly calendars: readonly string[];
  readonly sources: readonly BitcoinSource[];
  readonly network: Network;
}

/** How far a batch is after an attempt. */
export interface AnchorProgress {
  readonly state: "open" | "pending" | "confirmed";
  /** Why it is not confirmed; null where it is. */
  readonly error: string | null;
  readonly blockHeight: number | null;
}

/** Once it has taken so long, no further block is looked at: the next attempt does. */
const CHECKING_MS = 60_000;
const MOST_ERROR = 1000;

/** A batch as the database has it. */
interface Row {
  readonly first: string;
  readonly last: string;
  readonly root: Buffer;
  readonly state: AnchorProgress["state"];
  readonly calendars: string[];
  readonly proof: Buffer | null;
  readonly submitted_at: Date | null;
  readonly block_height: string | null;
}

/**
 * Takes a batch one step further: gives it to calendars that have not taken it, asks those that have, and checks what
 * they attest. Only what stands against block headers makes it confirmed; that is sealed with it. Whatever goes wrong on
 * the other side is noted, and left to the next attempt. Safe to repeat, and by several at once. Takes some two minutes
 * at the most.
 *
 * @param first names the batch
 * @throws {Problem} `NotFound`: there is no such batch
 */
export async function advanceAnchor(
  anchoring: AnchorParts,
  first: number,
): Promise<AnchorProgress> {
  const { store, calendars } = anchoring;
  const row: Row | undefined = await store.asPlatform()("anchors").where({ first }).first();
  if (!row) throw new Problem("NotFound", `There is no batch of receipts that begins at ${first}`);
  if (row.state === "confirmed") {
    return { state: row.state, error: null, blockHeight: Number(row.block_height) };
  }
  const known = knownOf(row);
  const notes: string[] = [];
  const proof = await submit(store, calendars, known, notes);
  const found = proof && await findBlock(anchoring, known.root, proof, notes);
  if (found) {
    await confirm(store, row, found);
    return { state: "confirmed", error: null, blockHeight: found.height };
  }
  const error = [...new Set(notes)].join("; ").slice(0, MOST_ERROR) || "no calendar is configured";
  await store.asPlatform()("anchors").where({ first }).whereNot({ state: "confirmed" })
    .update({ last_error: error, attempts: store.asPlatform().raw("attempts + 1") });
  return { state: proof ? "pending" : "open", error, blockHeight: null };
}

function knownOf({ first, root, calendars, proof, submitted_at }: Row): Known {
  return {
    first: Number(first),
    root: new Uint8Array(root),
    taken: calendars,
    proof: proof ? parseTimestamp(proof, root.length) : undefined,
    submittedAt: submitted_at,
  };
}

/** A block that attests the batch, and the proof that leads there. */
interface Found extends ConfirmedBlock {
  readonly height: number;
  readonly proof: Timestamp;
}

/** Asks the calendars for what they promised. @returns the first block that stands */
async function findBlock(
  { calendars, sources, network }: AnchorParts,
  root: Uint8Array,
  proof: Timestamp,
  notes: string[],
): Promise<Found | undefined> {
  const known = new Map<number, Promise<ConfirmedBlock>>();
  const blockAt = (height: number) => {
    const asked = known.get(height) ?? confirmBlock(sources, height, network);
    known.set(height, asked);
    return asked;
  };
  const answers = await askAll(calendars, proof, root, notes);
  const until = Date.now() + CHECKING_MS;
  for (const { answer, block } of answers.flatMap(claims)) {
    if (Date.now() > until) {
      notes.push("checking blocks took too long");
      return undefined;
    }
    const found = await orNote(notes, async () => {
      const confirmed = await checkBlock(answer, block, network, blockAt);
      const only = prune(answer.timestamp, (attestation) => attestation === block.attestation)!;
      const whole = readable(graft(proof, root, answer.message, only), root);
      return { ...confirmed, proof: whole };
    });
    if (found) return found;
  }
  return undefined;
}

const claims = (answer: Answer) => answer.blocks.map((block) => ({ answer, block }));

/** @throws {NotConfirmed} the block does not count or is too old, or its merkle root is another than the one attested */
async function checkBlock(
  { host }: Answer,
  { attestation, message }: Answer["blocks"][number],
  { reachedHeight }: Network,
  blockAt: (height: number) => Promise<ConfirmedBlock>,
) {
  if (attestation.kind !== "bitcoin") throw new NotConfirmed("It is no attestation by Bitcoin");
  const { height } = attestation;
  if (height <= reachedHeight) {
    throw new NotConfirmed(`${host}: it attests block ${height}, which is older than the receipts`);
  }
  const confirmed = await blockAt(height);
  if (Buffer.compare(confirmed.header.merkleRoot, message) === 0) return { height, ...confirmed };
  throw new NotConfirmed(`${host}: it attests block ${height}, whose merkle root is another`);
}

/** Notes the block, and asks for the receipt that says so, in one transaction; once, however often it is called. */
async function confirm(store: Store, row: Row, found: Found): Promise<void> {
  const { height, header, sources, proof } = found;
  const [first, last] = [Number(row.first), Number(row.last)];
  const root = row.root.toString("hex");
  await store.asPlatform().transaction(async (trx) => {
    const changed = await trx("anchors").where({ first }).whereNot({ state: "confirmed" }).update({
      state: "confirmed",
      proof: Buffer.from(serializeTimestamp(proof)),
      attempts: trx.raw("attempts + 1"),
      last_error: null,
      confirmed_at: trx.fn.now(),
      block_height: height,
      block_header: Buffer.from(header.bytes),
      block_hash: header.hash,
      block_time: timeOf(header),
    });
    if (changed === 0) return;
    await trx("anchor_head").update({
      confirmed: trx.raw("confirmed + 1"),
      anchored_receipts: trx.raw("anchored_receipts + ?", [last - first + 1]),
    });
    await requestSeal(trx, {
      id: anchorReceiptId(first, root),
      category: ANCHOR_CONFIRMED,
      actor: "ledger-anchor",
      subject: `${first}-${last}`,
      action: "anchor.confirm",
      outcome: "confirmed",
      details: {
        ...{ first, last, root, sources, block_height: height, block_hash: header.hash },
        block_time: timeOf(header).toISOString(),
      },
    });
  });
}

/** Id of the receipt which says that a batch is in a block. @param root hex */
export const anchorReceiptId = (first: number, root: string): string =>
  createHash("sha256").update(`anchor\n${first}\n${root}`).digest("hex").slice(0, 16);

const timeOf = ({ time }: BlockHeader) => new Date(time * 1000);

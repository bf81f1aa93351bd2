import { z } from "zod";
import { FileOutput, Problem } from "../../contract/mod.ts";
import {
  type Anchor,
  buildReceiptProof,
  type ConfirmedAnchor,
  getAnchorTotals,
  getReceiptBytes,
  listConfirmedAnchors,
  listUnfinishedAnchors,
} from "../anchors/mod.ts";
import { OTS_TYPE } from "../anchors/ots/mod.ts";
import { getPublicSize } from "../log/mod.ts";
import { ReceiptNotFound, type StoredReceipt } from "../receipts/mod.ts";
import { common, findByPath, operation, ReceiptId } from "./_operation.ts";
import { receiptFileUrl } from "./anchor_summary.ts";
import type { LedgerParts } from "./parts.ts";

const SAMPLES = 20;

const proof = operation({
  ...common,
  name: "public_ledger.receipt_proof",
  summary: "Get the OpenTimestamps proof of a receipt's bytes",
  description:
    "The proof is about the file that `/api/receipt/{receipt_id}.bin` returns; the stock client verifies it " +
    "with `ots verify`. Until a block is confirmed, it names the calendars that promise one. `NotFound` while " +
    "no calendar has accepted the receipt's batch.",
  input: z.object({ receipt_id: ReceiptId }),
  output: z.string().describe("A proof file"),
  rest: { ledger_receipt_ots: "GET /api/receipt/{receipt_id}.ots" },
  presentation: { errors: ["NotFound", "Conflict", "Unavailable"], media: OTS_TYPE },
  example: { input: { receipt_id: "9f2c4b7a01d3e856" }, output: "" },
  run: async ({ receipt_id }, parts) => {
    const receipt = await findFile(parts, receipt_id);
    const bytes = await buildReceiptProof(parts.store, receipt);
    return new FileOutput(bytes, fileName(receipt, "bin.ots"));
  },
});

const bytes = operation({
  ...common,
  name: "public_ledger.receipt_bytes",
  summary: "Get the bytes of a receipt that are hashed and timestamped",
  description:
    "Era 3: the canonical bytes, which are also signed. Eras 1 and 2: the stored record.",
  input: z.object({ receipt_id: ReceiptId }),
  output: z.string().describe("The bytes"),
  rest: { ledger_receipt_bin: "GET /api/receipt/{receipt_id}.bin" },
  presentation: { errors: ["NotFound", "Unavailable"], media: "application/octet-stream" },
  example: { input: { receipt_id: "9f2c4b7a01d3e856" }, output: "" },
  run: async ({ receipt_id }, parts) => {
    const receipt = await findFile(parts, receipt_id);
    const bytes = await getReceiptBytes(parts.store, receipt.position);
    return new FileOutput(bytes, fileName(receipt, "bin"));
  },
});

async function findFile(parts: LedgerParts, idOrPrefix: string): Promise<StoredReceipt> {
  try {
    return await findByPath(parts, idOrPrefix);
  } catch (error) {
    if (error instanceof ReceiptNotFound) throw new Problem("NotFound", error.message);
    throw error;
  }
}

/** Returns a file name that every system accepts; ids of imported receipts may have any characters. */
function fileName({ id }: StoredReceipt, ending: string): string {
  return `${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 128)}.${ending}`;
}

const Waiting = z.object({
  first: z.number().int(),
  last: z.number().int(),
  root: z.string(),
  state: z.string().describe("open: no calendar has accepted it; pending: no block yet"),
  attempts: z.number().int(),
  last_error: z.string().nullable().describe("Why it is not confirmed"),
  opened_at: z.string(),
  submitted_at: z.string().nullable(),
});

const Sample = z.looseObject({
  receipt_id: z.string(),
  chain_position: z.number().int(),
  first: z.number().int().describe("First position of its batch"),
  last: z.number().int().describe("Last position of its batch"),
  root: z.string(),
  block_height: z.number().int(),
  block_hash: z.string(),
  block_header: z.string().describe("80 bytes, hex: check its work and its merkle root yourself"),
  block_time: z.string(),
  proof_url: z.string(),
});

const anchors = operation({
  ...common,
  name: "public_ledger.anchors",
  summary: "Count the receipts anchored in Bitcoin, and list some",
  description:
    "A receipt counts as anchored when the root of its batch is in a Bitcoin block with at least six confirmations, " +
    "verified against block headers. What calendars only promise is pending.",
  input: z.object({}),
  output: z.looseObject({
    anchored_receipts: z.number().int(),
    total_receipts: z.number().int(),
    anchored_share: z.number().min(0).max(1),
    confirmed_anchors: z.number().int(),
    newest_block_height: z.number().int().nullable(),
    pending: z.object({
      batches: z.number().int(),
      receipts: z.number().int(),
      unbatched_receipts: z.number().int().describe("They wait for the next batch"),
      waiting: z.array(Waiting),
    }),
    samples: z.array(Sample).describe("The newest confirmed batches"),
  }),
  rest: { ledger_anchors: "GET /api/anchors" },
  example: {
    input: {},
    output: {
      anchored_receipts: 0,
      total_receipts: 42,
      anchored_share: 0,
      confirmed_anchors: 0,
      newest_block_height: null,
      pending: {
        batches: 1,
        receipts: 40,
        unbatched_receipts: 2,
        waiting: [{
          first: 0,
          last: 39,
          root: "60dcf44792c84378…",
          state: "pending",
          attempts: 3,
          last_error: "calendar alice.btc.calendar.opentimestamps.org: not in a block yet",
          opened_at: "2026-07-01T12:00:00.000Z",
          submitted_at: "2026-07-01T12:00:02.000Z",
        }],
      },
      samples: [],
    },
  },
  run: async (_, { store, ledgerUrl }) => {
    const [totals, unfinished, confirmed] = await Promise.all([
      getAnchorTotals(store),
      listUnfinishedAnchors(store),
      listConfirmedAnchors(store, SAMPLES),
    ]);
    const size = await getPublicSize(store); // after the totals, or the share could be over 1
    const { anchoredReceipts, confirmedBatches, nextPosition } = totals;
    return {
      anchored_receipts: anchoredReceipts,
      total_receipts: size,
      anchored_share: size === 0 ? 0 : Math.min(1, anchoredReceipts / size), // receipts may be missing
      confirmed_anchors: confirmedBatches,
      newest_block_height: confirmed[0]?.block.height ?? null,
      pending: {
        batches: unfinished.length,
        receipts: unfinished.reduce((sum, { first, last }) => sum + last - first + 1, 0),
        unbatched_receipts: Math.max(0, size - nextPosition),
        waiting: unfinished.map(toWaiting),
      },
      samples: confirmed.map((anchor) => toSample(anchor, ledgerUrl)),
    };
  },
});

function toWaiting(anchor: Anchor): z.input<typeof Waiting> {
  const { first, last, root, state, attempts, lastError, openedAt, submittedAt } = anchor;
  return {
    first,
    last,
    root,
    state,
    attempts,
    last_error: lastError,
    opened_at: openedAt.toISOString(),
    submitted_at: submittedAt?.toISOString() ?? null,
  };
}

/** Describes a batch by its newest receipt. */
function toSample(
  { lastId, first, last, root, block }: ConfirmedAnchor,
  ledgerUrl: string,
): z.input<typeof Sample> {
  return {
    receipt_id: lastId,
    chain_position: last,
    first,
    last,
    root,
    block_height: block.height,
    block_hash: block.hash,
    block_header: block.header,
    block_time: block.time.toISOString(),
    proof_url: receiptFileUrl(ledgerUrl, lastId, "ots"),
  };
}

/** Operations on anchors. */
export const anchorOperations = [proof, bytes, anchors] as const;

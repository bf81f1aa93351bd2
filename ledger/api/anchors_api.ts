import { z } from "zod";
import {
  type Anchor,
  buildReceiptProof,
  type ConfirmedAnchor,
  findAnchor,
  getAnchorTotals,
  getReceiptBytes,
  listAnchors,
  listConfirmedAnchors,
  listUnfinishedAnchors,
} from "../anchors/mod.ts";
import {
  AmbiguousReceipt,
  findReceipt,
  getHead,
  ReceiptNotFound,
  type StoredReceipt,
} from "../receipts/mod.ts";
import { defineOperation, FileOutput, InvalidInput, Problem } from "../../contract/mod.ts";
import type { LedgerParts } from "./api.ts";
import { OTS_TYPE } from "../anchors/ots/mod.ts";

const operation = defineOperation<LedgerParts>();
const common = { group: "ledger", effect: "read", access: "public" } as const;
const receiptErrors = ["NotFound", "ReceiptNotFound", "AmbiguousReceipt", "Unavailable"];
const Id = z.string().min(1).max(128).describe(
  "Full id, or a unique prefix of id or hash; any case",
);
const SAMPLES = 20;

/** The file's name for a receipt; ids may hold what not every system takes in a name, imported ones anything. */
const fileName = ({ id }: StoredReceipt, ending: string) =>
  `${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 128)}.${ending}`;

const proof = operation({
  ...common,
  name: "public_ledger.receipt_proof",
  summary: "Give the OpenTimestamps proof of a receipt's bytes",
  description: "For the file that `/api/receipt/{receipt_id}.bin` gives, as the stock client " +
    "`ots verify` takes it. Until a block is confirmed it names calendars that promise one; `NotFound` " +
    "while no calendar has taken the receipt's batch.",
  input: z.object({ receipt_id: Id }),
  output: z.string().describe("A proof file"),
  media: OTS_TYPE,
  rest: { ledger_receipt_ots: "GET /api/receipt/{receipt_id}.ots" },
  errors: receiptErrors,
  example: { input: { receipt_id: "9f2c4b7a01d3e856" }, output: "" },
  run: async ({ receipt_id }, { store }) => {
    const receipt = await found(store, receipt_id);
    return new FileOutput(await buildReceiptProof(store, receipt), fileName(receipt, "bin.ots"));
  },
});

const bytes = operation({
  ...common,
  name: "public_ledger.receipt_bytes",
  summary: "Give the bytes of a receipt that are hashed and timestamped",
  description: "Era 3: the canonical bytes, which are also what is signed. Eras 1 and 2: the " +
    "record as it is stored.",
  input: z.object({ receipt_id: Id }),
  output: z.string().describe("The bytes"),
  media: "application/octet-stream",
  rest: { ledger_receipt_bin: "GET /api/receipt/{receipt_id}.bin" },
  errors: receiptErrors,
  example: { input: { receipt_id: "9f2c4b7a01d3e856" }, output: "" },
  run: async ({ receipt_id }, { store }) => {
    const receipt = await found(store, receipt_id);
    return new FileOutput(
      await getReceiptBytes(store, receipt.position),
      fileName(receipt, "bin"),
    );
  },
});

async function found(store: LedgerParts["store"], id: string): Promise<StoredReceipt> {
  try {
    return await findReceipt(store, id);
  } catch (error) {
    if (error instanceof AmbiguousReceipt) {
      throw new InvalidInput([{ path: ["receipt_id"], msg: error.message, type: "ambiguous" }]);
    }
    if (error instanceof ReceiptNotFound) throw new Problem("NotFound", error.message);
    throw error;
  }
}

const AnchorSample = z.looseObject({
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
  summary: "Tell how many receipts are anchored in Bitcoin, and show some",
  description:
    "A receipt counts as anchored when the root of its batch is in a block of Bitcoin with " +
    "at least six confirmations, checked against block headers. What calendars merely promise is pending.",
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
      waiting: z.array(z.object({
        first: z.number().int(),
        last: z.number().int(),
        root: z.string(),
        state: z.string().describe("open: no calendar has taken it; pending: no block yet"),
        attempts: z.number().int(),
        last_error: z.string().nullable().describe("Why it is not confirmed"),
        opened_at: z.string(),
        submitted_at: z.string().nullable(),
      })),
    }),
    samples: z.array(AnchorSample).describe("The newest confirmed batches"),
  }),
  rest: { ledger_anchors: "GET /api/anchors" },
  errors: ["Unavailable"],
  example: {
    input: {},
    output: {
      anchored_receipts: 0,
      total_receipts: 42,
      anchored_share: 0,
      confirmed_anchors: 0,
      newest_block_height: null,
      pending: {
        ...{ batches: 1, receipts: 40, unbatched_receipts: 2 },
        waiting: [{
          ...{ first: 0, last: 39, root: "60dcf44792c84378…", state: "pending", attempts: 3 },
          last_error: "in no block yet",
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
    const { size } = await getHead(store); // after the totals, so that no share is over 1
    const { anchoredReceipts, confirmedBatches, nextPosition } = totals;
    return {
      anchored_receipts: anchoredReceipts,
      total_receipts: size,
      anchored_share: size === 0 ? 0 : Math.min(1, anchoredReceipts / size), // some may be missing
      confirmed_anchors: confirmedBatches,
      newest_block_height: confirmed[0]?.block?.height ?? null,
      pending: {
        batches: unfinished.length,
        receipts: unfinished.reduce((sum, { first, last }) => sum + last - first + 1, 0),
        unbatched_receipts: Math.max(0, size - nextPosition),
        waiting: unfinished.map(waiting),
      },
      samples: confirmed.map((anchor) => sample(anchor, ledgerUrl)),
    };
  },
});

const waiting = ({ first, last, root, state, lastError, attempts, ...times }: Anchor) => ({
  ...{ first, last, root, state, attempts, last_error: lastError },
  opened_at: times.openedAt.toISOString(),
  submitted_at: times.submittedAt?.toISOString() ?? null,
});

/** The newest receipt of a batch stands for it. */
const sample = ({ lastId, first, last, root, block }: ConfirmedAnchor, ledgerUrl: string) => ({
  receipt_id: lastId,
  chain_position: last,
  ...{ first, last, root },
  block_height: block.height,
  block_hash: block.hash,
  block_header: block.header,
  block_time: block.time.toISOString(),
  proof_url: fileUrl(ledgerUrl, lastId, "ots"),
});

/** What is told of a receipt's anchor beside it, derived at read time; it lies outside the signed payload. */
export interface AnchorSummary {
  /** True only with a block whose header was checked. */
  readonly bitcoin_anchored: boolean;
  readonly anchor: {
    /** `unbatched`: it waits for the next batch; `open`: no calendar has taken its batch. */
    readonly state: "unbatched" | Anchor["state"];
    readonly block_height: number | null;
    readonly block_hash: string | null;
    /** 80 bytes, hex. */
    readonly block_header: string | null;
    readonly block_time: string | null;
    /** Where its proof is; null while there is none. */
    readonly proof_url: string | null;
    /** Where the bytes are that the proof is about. */
    readonly bytes_url: string;
  };
}

/** Tells of the anchor of a receipt. */
export async function getAnchorSummary(
  { store, ledgerUrl }: Pick<LedgerParts, "store" | "ledgerUrl">,
  { id, position }: Pick<StoredReceipt, "id" | "position">,
): Promise<AnchorSummary> {
  const anchor = await findAnchor(store, position);
  const state = anchor?.state ?? "unbatched";
  const hasProof = state === "pending" || state === "confirmed";
  return {
    bitcoin_anchored: state === "confirmed",
    anchor: {
      state,
      block_height: anchor?.block?.height ?? null,
      block_hash: anchor?.block?.hash ?? null,
      block_header: anchor?.block?.header ?? null,
      block_time: anchor?.block?.time.toISOString() ?? null,
      proof_url: hasProof ? fileUrl(ledgerUrl, id, "ots") : null,
      bytes_url: fileUrl(ledgerUrl, id, "bin"),
    },
  };
}

/** Which receipts of a page, newest first, are in a block. */
export async function createAnchorLookup(
  store: LedgerParts["store"],
  page: readonly StoredReceipt[],
): Promise<(position: number) => boolean> {
  const to = (page[0]?.position ?? -1) + 1;
  const batches = page.length === 0 ? [] : await listAnchors(store, { from: to - page.length, to });
  const confirmed = batches.filter(({ state }) => state === "confirmed");
  return (position) => confirmed.some(({ first, last }) => first <= position && position <= last);
}

const fileUrl = (ledgerUrl: string, id: string, ending: "ots" | "bin") =>
  `${ledgerUrl}/api/receipt/${encodeURIComponent(id)}.${ending}`;

/** Doors to the anchors. They stand before `/api/receipt/{receipt_id}`, which would take their endings for a part of the id. */
export const anchorOperations = [proof, bytes, anchors] as const;

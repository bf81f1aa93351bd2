import { z } from "zod";
import type { Store } from "../../store/mod.ts";
import {
  getHead,
  listReceipts,
  listReceiptsOfFile,
  ReceiptNotFound,
  type StoredReceipt,
} from "../receipts/mod.ts";
import { verifyStored } from "../verify/mod.ts";
import { common, findByPath, operation, ReceiptId } from "./_operation.ts";
import { examplePage, exampleVerified, Page, Verified } from "./_receipt_schemas.ts";
import { parseRecord, summarizeReceipt } from "./_record.ts";
import { createAnchorLookup, getAnchorSummary } from "./anchor_summary.ts";
import { getChainState } from "./parts.ts";

const list = operation({
  ...common,
  name: "public_ledger.receipts",
  summary: "List receipts, newest first",
  input: z.object({
    limit: z.number().int().min(1).max(200).default(20).describe("Maximum receipts of the page"),
    page: z.number().int().min(0).max(1_000_000_000).default(0).describe("From 0, the newest"),
    file_sha256: z.string().regex(/^[0-9a-f]{64}$/, "Expected 64 lowercase hex characters")
      .optional()
      .describe(
        "Only receipts about the published file with this SHA-256, what the platform has published first; `page` is not used",
      ),
  }),
  output: Page,
  rest: { ledger_receipts: "GET /api/receipts" },
  example: { input: { limit: 1 }, output: examplePage },
  run: async ({ limit, page, file_sha256 }, parts) => {
    const { store, chain, ledgerUrl } = parts;
    const state = getChainState(parts);
    const { receipts, total, before } = file_sha256 === undefined
      ? await readPage(store, limit, page)
      : await readFile(store, limit, file_sha256);
    const isAnchored = await createAnchorLookup(store, receipts);
    return {
      total,
      page: file_sha256 === undefined ? page : 0,
      limit,
      has_more: before - limit > 0,
      chain_intact: state.chain_intact,
      receipts: receipts.map((receipt) => ({
        ...summarizeReceipt(receipt, ledgerUrl),
        verified: receipt.position <= state.verified_through && !chain.isBroken(receipt.position),
        bitcoin_anchored: isAnchored(receipt.position),
      })),
    };
  },
});

async function readPage(store: Store, limit: number, page: number) {
  const { size: total } = await getHead(store);
  const before = total - page * limit;
  return {
    total,
    before,
    receipts: before > 0 ? await listReceipts(store, { limit, before }) : [],
  };
}

async function readFile(store: Store, limit: number, sha256: string) {
  const receipts = await listReceiptsOfFile(store, sha256, limit);
  return { total: receipts.length, before: 0, receipts };
}

const verify = operation({
  ...common,
  name: "public_ledger.verify",
  summary: "Find a receipt and verify it by the rules of its era",
  description:
    "If there is no such receipt, the answer is `{found: false, receipt: null}` with status 200. A receipt that was " +
    "requested a moment ago is waited for, up to two seconds; after that the answer is 503 until it is sealed.",
  input: z.object({ receipt_id: ReceiptId }),
  output: Verified,
  rest: {
    ledger_verify: "GET /api/verify/{receipt_id}",
    ledger_receipt: "GET /api/receipt/{receipt_id}",
  },
  example: { input: { receipt_id: "9f2c4b7a01d3e856" }, output: exampleVerified },
  run: async ({ receipt_id }, parts) => {
    let receipt: StoredReceipt;
    try {
      receipt = await findByPath(parts, receipt_id);
    } catch (error) {
      if (error instanceof ReceiptNotFound) return { found: false as const, receipt: null };
      throw error;
    }
    const [{ verified, checks, reasons, superseded_by }, anchor] = await Promise.all([
      verifyStored(parts.store, receipt),
      getAnchorSummary(parts, receipt),
    ]);
    return {
      found: true as const,
      verified,
      checks,
      reasons: [...reasons],
      superseded_by,
      ...anchor,
      receipt: { ...parseRecord(receipt), ...summarizeReceipt(receipt, parts.ledgerUrl), verified },
    };
  },
});

/** Operations on receipts. */
export const receiptOperations = [list, verify] as const;

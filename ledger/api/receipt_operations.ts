import { z } from "zod";
import { ReceiptNotFound, type StoredReceipt } from "../receipts/mod.ts";
import { verifyStored } from "../verify/mod.ts";
import { common, findByPath, operation, ReceiptId } from "./_operation.ts";
import { isPaged, ListInput, readList } from "./_list.ts";
import { examplePage, exampleVerified, Page, Verified } from "./_receipt_schemas.ts";
import { parseRecord, summarizeReceipt } from "./_record.ts";
import { createAnchorLookup, getAnchorSummary } from "./anchor_summary.ts";
import { getChainState } from "./parts.ts";

const list = operation({
  ...common,
  name: "public_ledger.receipts",
  summary: "List receipts, newest first",
  description:
    "Without a filter, `page` numbers the pages; with one, and with `before`, `next_before` leads to the next. Filters are " +
    "over public fields: names of services, hosts, people and organizations are in none of them. `about` stands alone; `day` " +
    "may stand beside `category` or `kind`. What a filter finds is the server's answer, and no proof that it left nothing " +
    "out: the chain is.",
  input: ListInput,
  output: Page,
  rest: { ledger_receipts: "GET /api/receipts" },
  example: { input: { limit: 1 }, output: examplePage },
  run: async (input, parts) => {
    const { store, chain, ledgerUrl } = parts;
    const state = getChainState(parts);
    const { receipts, total, hasMore } = await readList(store, input);
    const isAnchored = await createAnchorLookup(store, receipts);
    return {
      total,
      page: isPaged(input) ? input.page : 0,
      limit: input.limit,
      has_more: hasMore,
      next_before: hasMore ? receipts.at(-1)?.position ?? null : null,
      chain_intact: state.chain_intact,
      receipts: receipts.map((receipt) => ({
        ...summarizeReceipt(receipt, ledgerUrl),
        verified: receipt.position <= state.verified_through && !chain.isBroken(receipt.position),
        bitcoin_anchored: isAnchored(receipt.position),
      })),
    };
  },
});

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

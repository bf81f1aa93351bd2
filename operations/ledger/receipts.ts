import { z } from "zod";
import { findReceipt, listReceipts } from "../../ledger/mod.ts";
import { FULL, FULL_AND_AUDIT } from "../_audience.ts";
import { exampleVerified, verified, VerifiedReceipt } from "../_verified.ts";
import { Limit, ReceiptId } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

const SealedReceipt = z.looseObject({}).describe(
  "As it was sealed: id, chain_position, timestamp, category, actor, subject, action, outcome, details, hash_sha256, " +
    "prev_hash, signature; its canonical bytes are at the public ledger",
);
const exampleReceipt = {
  id: "9f2c4b7a01d3e856",
  chain_position: 41,
  timestamp: "2026-07-01T12:00:00.000000+00:00",
  category: "self_heal",
  subject: "INC-4f1d22a90b7c",
  outcome: "sealed",
  hash_sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
};

/** What a receipt says; its canonical bytes say the same once more. */
function contentOf({ text }: { readonly text: string }): Record<string, unknown> {
  const { canonical_bytes: _, ...content } = JSON.parse(text);
  return content;
}

/** Reads and verifies one receipt. */
export const verifyOne = operation({
  name: "receipts.verify",
  group: "receipts",
  summary:
    "Read one receipt and verify it: its hash, its signature, and its link to the one before",
  effect: "read",
  access: "key",
  input: z.object({ receipt_id: ReceiptId }),
  output: VerifiedReceipt.extend({
    superseded_by: z.string().nullable().describe("Id of the receipt that corrects this one"),
    receipt: SealedReceipt,
  }),
  tool: { verify_ledger_receipt: FULL, "ledger.verify_receipt": FULL_AND_AUDIT },
  resource: { "sealoop://receipts/{receipt_id}": FULL_AND_AUDIT },
  untrusted: true,
  errors: ["ReceiptNotFound", "AmbiguousReceipt", "Unavailable"],
  example: {
    input: { receipt_id: "9f2c4b7a01d3e856" },
    output: { ...exampleVerified, superseded_by: null, receipt: exampleReceipt },
  },
  run: async ({ receipt_id }, { store, urls }) => {
    const found = await findReceipt(store, receipt_id);
    return { ...await verified(store, found, urls.ledger), receipt: contentOf(found) };
  },
});

/** Verifies everything. */
export const verifyAll = operation({
  name: "receipts.verify_chain",
  group: "receipts",
  summary: "Tell whether the whole chain of receipts holds, as of the newest verified one",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.looseObject({
    chain_intact: z.boolean().nullable().describe("null: it is not known yet"),
    breaks: z.number().int().describe("How many positions do not hold"),
    total: z.number().int(),
    verified_through: z.number().int().describe("Position of the newest receipt verified"),
  }),
  tool: { get_receipt_chain: FULL, "ledger.verify_chain": FULL_AND_AUDIT },
  example: {
    input: {},
    output: { chain_intact: true, breaks: 0, total: 42, verified_through: 41 },
  },
  run: async (_, { chain }) => ({ ...await chain.catchUp() }),
});

/** Looks for receipts. */
export const search = operation({
  name: "receipts.search",
  group: "receipts",
  summary: "Search the newest receipts by words and by category",
  effect: "read",
  access: "key",
  input: z.object({
    query: z.string().max(200).optional().describe(
      "Words that must all be in the receipt, in any case",
    ),
    category: z.string().max(100).optional(),
    limit: Limit,
  }),
  output: z.object({
    receipts: z.array(SealedReceipt).describe("Newest first"),
    searched: z.number().int().describe("How many of the newest were looked through"),
  }),
  tool: { "ledger.search_receipts": FULL_AND_AUDIT },
  resource: { "sealoop://receipts": FULL_AND_AUDIT },
  untrusted: true,
  example: {
    input: { category: "self_heal", limit: 5 },
    output: {
      receipts: [exampleReceipt],
      searched: 42,
    },
  },
  run: async ({ query = "", category, limit }, { store }) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const newest = await listReceipts(store, { limit: SEARCHED, category });
    const found = newest.filter(({ text }) => {
      const lower = text.toLowerCase();
      return words.every((word) => lower.includes(word));
    });
    return { receipts: found.slice(0, limit).map(contentOf), searched: newest.length };
  },
});

const SEARCHED = 1000;

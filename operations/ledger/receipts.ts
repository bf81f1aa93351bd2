import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { findReceipt, listReceipts, verifyStored } from "../../ledger/mod.ts";
import {
  exampleVerifiedReceipt,
  Limit,
  ReceiptId,
  tellVerified,
  toVerifiedReceipt,
  VerifiedReceipt,
} from "../schemas/mod.ts";
import { FULL, FULL_AND_AUDIT } from "../scopes.ts";

/** Number of newest receipts that a search reads. */
const SEARCH_DEPTH = 1000;

const SealedReceipt = z.looseObject({}).describe(
  "As it was sealed: id, chain_position, timestamp, category, actor, subject, action, outcome, details, hash_sha256, " +
    "prev_hash, signature; the public ledger has its canonical bytes",
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

/** Verification of one receipt. */
export const receiptVerification = operation({
  name: "receipts.verify",
  group: "receipts",
  summary: "Get a receipt and verify its hash, its signature and its link to the receipt before",
  effect: "read",
  access: "key",
  input: z.object({ receipt_id: ReceiptId }),
  output: VerifiedReceipt.extend({
    superseded_by: z.string().nullable().describe("Id of the receipt that corrects this one"),
    receipt: SealedReceipt,
  }),
  tool: { verify_ledger_receipt: FULL, "ledger.verify_receipt": FULL_AND_AUDIT },
  presentation: {
    tell: ({ receipt, superseded_by, ...verified }) => [
      tellReceipt(receipt),
      ...tellVerified(verified as never),
      ...(superseded_by ? [`Receipt ${superseded_by} corrects it.`] : []),
    ],
    toolText: {
      verify_ledger_receipt:
        "For one receipt whose id is known; whether all hold, get_receipt_chain says.",
      "ledger.verify_receipt": "The same as verify_ledger_receipt, for auditors' keys.",
    },
    resource: { "sealoop://receipts/{receipt_id}": FULL_AND_AUDIT },
    untrusted: true,
    errors: ["ReceiptNotFound", "AmbiguousReceipt", "Unavailable"],
  },
  example: {
    input: { receipt_id: "9f2c4b7a01d3e856" },
    output: { ...exampleVerifiedReceipt, superseded_by: null, receipt: exampleReceipt },
  },
  run: async ({ receipt_id }, { store, urls }) => {
    const receipt = await findReceipt(store, receipt_id);
    const verdict = await verifyStored(store, receipt);
    return { ...toVerifiedReceipt(receipt, verdict, urls.ledger), receipt: contentOf(receipt) };
  },
});

/** Verification of the whole chain. */
export const chainVerification = operation({
  name: "receipts.verify_chain",
  group: "receipts",
  summary: "Verify the whole chain of receipts up to the newest one",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.looseObject({
    chain_intact: z.boolean().nullable().describe("Null: not known yet"),
    breaks: z.number().int().describe("Number of positions that do not verify"),
    total: z.number().int(),
    verified_through: z.number().int().describe("Position of the newest verified receipt"),
  }),
  tool: { get_receipt_chain: FULL, "ledger.verify_chain": FULL_AND_AUDIT },
  presentation: {
    tell: ({ chain_intact, breaks, total }) => [
      chain_intact === null
        ? "The chain is not verified yet; ask again."
        : chain_intact
        ? `The chain of ${total} receipts holds.`
        : `The chain is BROKEN: ${breaks} of ${total} receipts do not verify.`,
    ],
    toolText: { "ledger.verify_chain": "The same as get_receipt_chain, for auditors' keys." },
  },
  example: {
    input: {},
    output: { chain_intact: true, breaks: 0, total: 42, verified_through: 41 },
  },
  run: async (_, { chain }) => ({ ...await chain.catchUp() }),
});

/** Newest receipts that match. */
export const receiptSearch = operation({
  name: "receipts.search",
  group: "receipts",
  summary: "Search the newest receipts by words and by category",
  effect: "read",
  access: "key",
  input: z.object({
    query: z.string().max(200).optional().describe(
      "Words that must all occur in the receipt; any case",
    ),
    category: z.string().max(100).optional().describe("Only receipts of this category"),
    limit: Limit,
  }),
  output: z.object({
    receipts: z.array(SealedReceipt).describe("Newest first"),
    searched: z.number().int().describe("Number of newest receipts that were searched"),
  }),
  tool: { "ledger.search_receipts": FULL_AND_AUDIT },
  presentation: {
    tell: ({ receipts, searched }) => [
      `${receipts.length} of the newest ${searched} receipts match.`,
      ...receipts.map((receipt: Parameters<typeof tellReceipt>[0]) => `- ${tellReceipt(receipt)}`),
    ],
    toolText: {
      "ledger.search_receipts":
        "For what was sealed about a ticket, a service's repair, an approval or a key.",
    },
    resource: { "sealoop://receipts": FULL_AND_AUDIT },
    untrusted: true,
  },
  example: {
    input: { category: "self_heal", limit: 5 },
    output: { receipts: [exampleReceipt], searched: 42 },
  },
  run: async ({ query = "", category, limit }, { store }) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const newest = await listReceipts(store, { limit: SEARCH_DEPTH, category });
    const matches = newest.filter(({ text }) => {
      const lowerCase = text.toLowerCase();
      return words.every((word) => lowerCase.includes(word));
    });
    return { receipts: matches.slice(0, limit).map(contentOf), searched: newest.length };
  },
});

/** Returns the content of a receipt, without its canonical bytes, which repeat it. */
function contentOf({ text }: { readonly text: string }): Record<string, unknown> {
  const { canonical_bytes: _, ...content } = JSON.parse(text);
  return content;
}

/** Tells a receipt in one line. */
function tellReceipt(
  { id, timestamp, category, subject, action, outcome }: Readonly<Record<string, unknown>>,
): string {
  return `${timestamp} ${category}: ${action ?? "act"} on ${subject ?? "nothing named"}, outcome ${
    outcome ?? "not said"
  } (receipt ${id})`;
}

import { z } from "zod";
import { Problem } from "../contract/mod.ts";
import { findReceipt, pageReceipts, type Stored, verifyStored } from "../ledger/mod.ts";
import { getTicket, type Store } from "../store/mod.ts";
import { FULL, FULL_AND_AUDIT } from "./_audience.ts";
import { operation } from "./platform.ts";
import { Limit, ReceiptId } from "./_shapes.ts";

const Check = z.enum(["pass", "fail", "not_applicable"]);
const Verified = z.looseObject({
  receipt_id: z.string(),
  verified: z.boolean(),
  checks: z.object({ hash: Check, canonical: Check, signature: Check, link: Check })
    .describe("What the rules of its era say"),
  chain_position: z.number().int(),
  sha256: z.string(),
  verify_url: z.url().describe("The public ledger's own answer"),
}).meta({ id: "VerifiedReceipt" });

const example = {
  receipt_id: "9f2c4b7a01d3e856",
  verified: true,
  checks: { hash: "pass", canonical: "pass", signature: "pass", link: "pass" },
  chain_position: 41,
  sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
  verify_url: "http://127.0.0.1:8082/api/verify/9f2c4b7a01d3e856",
};

async function verified(store: Store, receipt: Stored, ledgerUrl: string) {
  return {
    receipt_id: receipt.id,
    ...await verifyStored(store, receipt),
    chain_position: receipt.position,
    sha256: receipt.hash,
    verify_url: `${ledgerUrl}/api/verify/${encodeURIComponent(receipt.id)}`,
  };
}

/** Verifies one receipt. */
export const verifyOne = operation({
  name: "receipts.verify",
  group: "receipts",
  summary: "Verify one receipt: its hash, its signature, and its link to the one before",
  effect: "read",
  access: "key",
  input: z.object({ receipt_id: ReceiptId }),
  output: Verified,
  tool: { verify_ledger_receipt: FULL, "ledger.verify_receipt": FULL_AND_AUDIT },
  errors: ["ReceiptNotFound", "AmbiguousReceipt"],
  example: { input: { receipt_id: "9f2c4b7a01d3e856" }, output: example },
  run: async ({ receipt_id }, { store, urls }) =>
    await verified(store, await findReceipt(store, receipt_id), urls.ledger),
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
    chain_intact: z.boolean().nullable(),
    breaks: z.number().int(),
    total: z.number().int(),
  }),
  tool: { get_receipt_chain: FULL, "ledger.verify_chain": FULL_AND_AUDIT },
  example: {
    input: {},
    output: { chain_intact: true, breaks: 0, total: 42, verified_through: 41 },
  },
  run: async (_, { chain }) => ({ ...await chain.caughtUp() }),
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
  output: z.object({ receipts: z.array(z.looseObject({})), searched: z.number().int() }),
  tool: { "ledger.search_receipts": FULL_AND_AUDIT },
  example: { input: { category: "self_heal", limit: 5 }, output: { receipts: [], searched: 42 } },
  run: async ({ query = "", category, limit }, { store }) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const newest = await pageReceipts(store, { limit: SEARCHED, category });
    const found = newest.filter(({ text }) => {
      const lower = text.toLowerCase();
      return words.every((word) => lower.includes(word));
    });
    const shown = found.slice(0, limit).map(({ text }) => {
      const { canonical_bytes: _, ...rest } = JSON.parse(text);
      return rest;
    });
    return { receipts: shown, searched: newest.length };
  },
});

const SEARCHED = 1000;

/** Verifies the receipt of a ticket. */
export const verifyTicket = operation({
  name: "tickets.verify_receipt",
  group: "itsm",
  summary: "Verify the receipt that is embedded in a ticket",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: z.string().min(1).max(64).describe("Ticket id") }),
  output: Verified.extend({ ticket_id: z.string() }),
  rest: { itsm_ticket_verify_receipt: "GET /v1/itsm/tickets/{ticket_id}/verify" },
  tool: { itsm_verify_receipt: FULL },
  errors: ["NotFound", "ReceiptNotFound"],
  example: {
    input: { ticket_id: "INC-4f1d22a90b7c" },
    output: { ticket_id: "INC-4f1d22a90b7c", ...example },
  },
  run: async ({ ticket_id }, { store, urls }) => {
    const ticket = await getTicket(store.knex, ticket_id);
    if (!ticket) throw new Problem("NotFound", `There is no ticket ${ticket_id}`);
    if (!ticket.receipt_id) throw new Problem("NotFound", `Ticket ${ticket_id} has no receipt yet`);
    const receipt = await findReceipt(store, ticket.receipt_id);
    return { ticket_id, ...await verified(store, receipt, urls.ledger) };
  },
});

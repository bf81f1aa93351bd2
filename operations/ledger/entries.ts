import { z } from "zod";
import { JsonText } from "../../contract/mod.ts";
import { findReceipt, getAnchorTotals, getHead, listReceipts } from "../../ledger/mod.ts";
import { Limit, ReceiptId, Timestamp } from "../_shapes.ts";
import { type Context, operation } from "../../calls/mod.ts";

const POLICY =
  "OpenTimestamps status is reported per receipt only when proof metadata is present; otherwise receipts are " +
  "SHA-256 hash-chained and tamper-evident";

const LedgerEntry = z.looseObject({
  timestamp: Timestamp,
  category: z.string(),
  actor: z.string(),
  subject: z.string(),
  action: z.string(),
  outcome: z.string(),
  details: z.record(z.string(), z.unknown()),
}).meta({
  id: "LedgerEntry",
  description: "A receipt as it was sealed, with its hash and signature",
});

const exampleEntry = {
  id: "9f2c4b7a01d3e856",
  timestamp: "2026-07-01T12:00:00.000000+00:00",
  category: "platform_fix",
  actor: "itsm-loop",
  subject: "INC-4f1d22a90b7c",
  action: "restart",
  outcome: "sealed",
  details: { rounds: 1 },
  chain_position: 41,
  prev_hash: "89d3ad35fd86216af012bab842df9042fc5cd48dc6b209c420d2616643b14273",
  hash_sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
};

/** The newest receipts, page by page. */
export const ledgerPage = operation({
  name: "ledger.page",
  group: "core",
  summary: "List receipts of the public ledger, newest first",
  effect: "read",
  access: "public",
  input: z.object({
    limit: Limit,
    offset: z.number().int().min(0).default(0).describe("Receipts to pass over, from the newest"),
  }),
  output: z.object({
    total: z.number().int(),
    limit: z.number().int(),
    offset: z.number().int(),
    ots_attested_count: z.number().int().describe(
      "Receipts of the whole ledger in a Bitcoin block",
    ),
    ots_attestation_policy: z.string(),
    entries: z.array(LedgerEntry),
  }),
  rest: { ledger_page: "GET /v1/ledger" },
  errors: ["Unavailable"],
  example: {
    input: { limit: 1, offset: 0 },
    output: {
      total: 42,
      limit: 1,
      offset: 0,
      ots_attested_count: 0,
      ots_attestation_policy: POLICY,
      entries: [exampleEntry],
    },
  },
  run: (input, context) => page(context, input),
});

/**
 * A page changes only when the chain grows, as it also does when receipts were anchored, so its text is kept for the
 * size it was made at; how long the chain is, is asked of the database at every call, once for all calls that arrive
 * together.
 */
async function page({ store }: Context, { limit, offset }: { limit: number; offset: number }) {
  const total = (await getHead(store)).size;
  const cache = pagesOf(store, total);
  const key = `${limit} ${offset}`;
  const kept = cache.get(key);
  if (kept) return kept;
  const [entries, { anchoredReceipts }] = await Promise.all([
    listReceipts(store, { limit, before: total - offset }),
    getAnchorTotals(store),
  ]);
  const text = new JsonText(
    `{"total":${total},"limit":${limit},"offset":${offset},"ots_attested_count":${anchoredReceipts},` +
      `"ots_attestation_policy":${JSON.stringify(POLICY)},"entries":[${
        entries.map(({ text }) => text).join(",")
      }]}`,
  );
  if (cache.size < 64) cache.set(key, text);
  return text;
}

const pages = new WeakMap<object, { size: number; texts: Map<string, JsonText> }>();

function pagesOf(store: object, size: number): Map<string, JsonText> {
  const kept = pages.get(store);
  if (kept?.size === size) return kept.texts;
  const texts = new Map<string, JsonText>();
  pages.set(store, { size, texts });
  return texts;
}

/** One receipt, by id or prefix. */
export const receipt = operation({
  name: "ledger.receipt",
  group: "core",
  summary: "Read one receipt by its id, or by a unique prefix of its id or hash",
  effect: "read",
  access: "public",
  input: z.object({ receipt_id: ReceiptId }),
  output: LedgerEntry,
  rest: { receipt: "GET /v1/receipt/{receipt_id}" },
  errors: ["ReceiptNotFound", "AmbiguousReceipt", "Unavailable"],
  example: { input: { receipt_id: "9f2c4b7a01d3e856" }, output: exampleEntry },
  run: async ({ receipt_id }, { store }) =>
    new JsonText((await findReceipt(store, receipt_id)).text),
});

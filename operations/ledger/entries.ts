import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { JsonText } from "../../contract/mod.ts";
import { findReceipt, getAnchorTotals, getHead, listReceipts } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { Limit, ReceiptId, Timestamp } from "../schemas/mod.ts";

const OTS_POLICY =
  "OpenTimestamps status is reported per receipt only when proof metadata is present; otherwise receipts are " +
  "SHA-256 hash-chained and tamper-evident";

const MAX_CACHED_PAGES = 64;

/** Pages of the chain at one size. A page changes only when the chain grows, as it does for anchors, too. */
const cache = new WeakMap<object, { size: number; pages: Map<string, JsonText> }>();

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

/** A page of receipts. */
export const ledgerPage = operation({
  name: "ledger.page",
  group: "core",
  summary: "List receipts of the public ledger, newest first",
  effect: "read",
  access: "public",
  input: z.object({
    limit: Limit,
    offset: z.number().int().min(0).default(0).describe("Number of newest receipts to skip"),
  }),
  output: z.object({
    total: z.number().int(),
    limit: z.number().int(),
    offset: z.number().int(),
    ots_attested_count: z.number().int().describe(
      "Number of receipts of the whole ledger that are in a Bitcoin block",
    ),
    ots_attestation_policy: z.string(),
    entries: z.array(LedgerEntry),
  }),
  rest: { ledger_page: "GET /v1/ledger" },
  presentation: { errors: ["Unavailable"] },
  example: {
    input: { limit: 1, offset: 0 },
    output: {
      total: 42,
      limit: 1,
      offset: 0,
      ots_attested_count: 0,
      ots_attestation_policy: OTS_POLICY,
      entries: [exampleEntry],
    },
  },
  run: async ({ limit, offset }, { store }) => {
    const total = (await getHead(store)).size;
    const pages = cachedPages(store, total);
    const key = `${limit} ${offset}`;
    const cached = pages.get(key);
    if (cached) return cached;
    const page = await readPage(store, total, limit, offset);
    if (pages.size < MAX_CACHED_PAGES) pages.set(key, page);
    return page;
  },
});

/** One receipt. */
export const ledgerEntry = operation({
  name: "ledger.receipt",
  group: "core",
  summary: "Get a receipt by its id, or by a unique prefix of its id or hash",
  effect: "read",
  access: "public",
  input: z.object({ receipt_id: ReceiptId }),
  output: LedgerEntry,
  rest: { receipt: "GET /v1/receipt/{receipt_id}" },
  presentation: { errors: ["ReceiptNotFound", "AmbiguousReceipt", "Unavailable"] },
  example: { input: { receipt_id: "9f2c4b7a01d3e856" }, output: exampleEntry },
  run: async ({ receipt_id }, { store }) =>
    new JsonText((await findReceipt(store, receipt_id)).text),
});

function cachedPages(store: Store, size: number): Map<string, JsonText> {
  const cached = cache.get(store.pool);
  if (cached?.size === size) return cached.pages;
  const pages = new Map<string, JsonText>();
  cache.set(store.pool, { size, pages });
  return pages;
}

/** Reads a page. The receipts' texts are joined as they are stored, as parsing them would take most of the time. */
async function readPage(
  store: Store,
  total: number,
  limit: number,
  offset: number,
): Promise<JsonText> {
  const [entries, { anchoredReceipts }] = await Promise.all([
    listReceipts(store, { limit, before: total - offset }),
    getAnchorTotals(store),
  ]);
  const texts = entries.map(({ text }) => text).join(",");
  return new JsonText(
    `{"total":${total},"limit":${limit},"offset":${offset},"ots_attested_count":${anchoredReceipts},` +
      `"ots_attestation_policy":${JSON.stringify(OTS_POLICY)},"entries":[${texts}]}`,
  );
}

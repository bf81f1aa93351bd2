import { z } from "zod";
import {
  AmbiguousReceipt,
  exportReceipts,
  findReceipt,
  getHead,
  listReceipts,
  ReceiptNotFound,
  type StoredReceipt,
} from "../receipts/mod.ts";
import type { ChainWatch } from "../scrub/mod.ts";
import { verifyStored } from "../verify/mod.ts";
import {
  Chain,
  exampleChain,
  examplePage,
  exampleStats,
  exampleVerified,
  Health,
  Page,
  Stats,
  Verified,
} from "./_api_shapes.ts";
import { defineOperation, InvalidInput, Problem } from "../../contract/mod.ts";
import { SERVICE } from "../../domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { anchorOperations, createAnchorLookup, getAnchorSummary } from "./anchors_api.ts";
import { logOperations } from "./log_api.ts";
import { wholeOperations } from "./whole_api.ts";

/** What the public ledger works with: its SELECT-only store, the verified chain, its own address. */
export interface LedgerParts {
  readonly store: Store;
  readonly chain: ChainWatch;
  /** Public address of the ledger, without a slash at the end. */
  readonly ledgerUrl: string;
}

const operation = defineOperation<LedgerParts>();
const common = {
  group: "ledger",
  effect: "read",
  access: "public",
  errors: ["Unavailable"],
} as const;
const Id = z.string().min(1).max(128).describe(
  "Full id, or a unique prefix of id or hash; any case",
);

/** The chain's state, or 503 while it can't be told. */
function chainState({ chain }: LedgerParts) {
  const state = chain.state();
  if (!state.live) {
    throw new Problem("Unavailable", "The ledger's database is away", {
      body: { detail: "The ledger's database is away", chain_intact: null },
    });
  }
  return state;
}

/** What a record says; nothing where somebody has made it something that is no JSON object. */
function fieldsOf({ text }: StoredReceipt): Record<string, string | undefined> {
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === "object" && fields !== null ? fields as Record<string, string> : {};
  } catch {
    return {};
  }
}

/** The entry of a receipt in lists. */
function summary(receipt: StoredReceipt, ledgerUrl: string, intactThrough: number) {
  const fields = fieldsOf(receipt);
  return {
    receipt_id: receipt.id,
    chain_position: receipt.position,
    previous_hash: fields.prev_hash ?? "",
    sha256: receipt.hash,
    timestamp: fields.timestamp ?? null,
    human_input: fields.human_input ?? "",
    type: receipt.category,
    subject: fields.subject ?? "",
    outcome: fields.outcome ?? "",
    verify_url: `${ledgerUrl}/api/verify/${encodeURIComponent(receipt.id)}`,
    version: fields.schema_version === undefined ? "v1" : `v${fields.schema_version}`,
    verified: receipt.position <= intactThrough,
  };
}

const stats = operation({
  ...common,
  name: "public_ledger.stats",
  summary: "Count receipts, and say whether the chain holds",
  input: z.object({}),
  output: Stats,
  rest: { ledger_stats: "GET /api/stats" },
  example: { input: {}, output: exampleStats },
  run: async (_, parts) => {
    const state = chainState(parts);
    const [{ size, hash }, newest, first, categories] = await Promise.all([
      getHead(parts.store),
      listReceipts(parts.store, { limit: 1 }),
      exportReceipts(parts.store, { from: 0, to: 1 }),
      parts.store.pool.query(
        "SELECT category, n::float8 FROM ledger_categories ORDER BY n DESC, category",
      ),
    ]);
    const byCategory = Object.fromEntries(categories.rows.map((row) => [row.category, row.n]));
    const time = (receipt?: StoredReceipt) => receipt ? fieldsOf(receipt).timestamp ?? null : null;
    return {
      total_receipts: size,
      chain_intact: state.chain_intact,
      breaks: state.breaks,
      verified_through: state.verified_through,
      last_hash: hash,
      last_timestamp: time(newest[0]),
      last_position: size - 1,
      genesis_timestamp: time(first[0]),
      self_heals: byCategory["self_heal"] ?? 0,
      platform_fixes: byCategory["platform_fix"] ?? 0,
      provenance_summary: byCategory,
    };
  },
});

const receipts = operation({
  ...common,
  name: "public_ledger.receipts",
  summary: "List receipts, newest first",
  input: z.object({
    limit: z.number().int().min(1).max(200).default(20).describe("Most receipts to give"),
    page: z.number().int().min(0).max(1_000_000_000).default(0).describe("From 0, the newest"),
  }),
  output: Page,
  rest: { ledger_receipts: "GET /api/receipts" },
  example: { input: { limit: 1 }, output: examplePage },
  run: async ({ limit, page }, parts) => {
    const state = chainState(parts);
    const total = (await getHead(parts.store)).size;
    const before = total - page * limit;
    const found = before > 0 ? await listReceipts(parts.store, { limit, before }) : [];
    const anchored = await createAnchorLookup(parts.store, found);
    return {
      total,
      page,
      limit,
      has_more: before - limit > 0,
      chain_intact: state.chain_intact,
      receipts: found.map((receipt) => {
        const entry = summary(receipt, parts.ledgerUrl, state.verified_through);
        return {
          ...entry,
          verified: entry.verified && !parts.chain.isBroken(receipt.position),
          bitcoin_anchored: anchored(receipt.position),
        };
      }),
    };
  },
});

async function verifyById(id: string, parts: LedgerParts): Promise<z.input<typeof Verified>> {
  let receipt: StoredReceipt;
  try {
    receipt = await findReceipt(parts.store, id);
  } catch (error) {
    if (error instanceof ReceiptNotFound) return { found: false, receipt: null };
    if (error instanceof AmbiguousReceipt) {
      throw new InvalidInput([{ path: ["receipt_id"], msg: error.message, type: "ambiguous" }]);
    }
    throw error;
  }
  const [{ verified, checks, reasons, superseded_by }, anchor] = await Promise.all([
    verifyStored(parts.store, receipt),
    getAnchorSummary(parts, receipt),
  ]);
  const shown = { ...fieldsOf(receipt), ...summary(receipt, parts.ledgerUrl, -1), verified };
  const verdict = { verified, checks, reasons: [...reasons], superseded_by };
  return { found: true, ...verdict, ...anchor, receipt: shown };
}

const verify = operation({
  ...common,
  name: "public_ledger.verify",
  summary: "Find a receipt and verify it by the rules of its era",
  description:
    "An id that is not there is `{found: false, receipt: null}`, with status 200. One that was asked for a " +
    "moment ago is waited for, up to two seconds; from then on until it is sealed the answer is 503.",
  input: z.object({ receipt_id: Id }),
  output: Verified,
  rest: {
    ledger_verify: "GET /api/verify/{receipt_id}",
    ledger_receipt: "GET /api/receipt/{receipt_id}",
  },
  example: { input: { receipt_id: "9f2c4b7a01d3e856" }, output: exampleVerified },
  run: ({ receipt_id }, parts) => verifyById(receipt_id, parts),
});

const chain = operation({
  ...common,
  name: "public_ledger.chain",
  summary: "Say whether the whole chain holds",
  input: z.object({}),
  output: Chain,
  rest: { ledger_chain: "GET /api/chain" },
  example: { input: {}, output: exampleChain },
  run: async (_, parts) => {
    const { chain_intact, breaks, verified_through, first_breaks, scrub } = chainState(parts);
    const { size } = await getHead(parts.store);
    return {
      ...{ chain_intact, total: size, breaks, verified_through },
      first_breaks: [...first_breaks],
      scrub: scrub && { ...scrub },
    };
  },
});

const health = operation({
  ...common,
  name: "public_ledger.health",
  summary: "Tell whether the ledger can be read",
  input: z.object({}),
  output: Health,
  rest: { ledger_health: "GET /api/health" },
  example: {
    input: {},
    output: { status: "ok", service: SERVICE.ledger, chain_intact: true, total_receipts: 42 },
  },
  run: async (_, parts) => {
    const state = chainState(parts);
    const { size } = await getHead(parts.store);
    return {
      status: state.chain_intact === null
        ? "verifying" as const
        : state.chain_intact
        ? "ok" as const
        : "broken" as const,
      service: SERVICE.ledger,
      chain_intact: state.chain_intact,
      total_receipts: size,
    };
  },
});

const activity = operation({
  ...common,
  name: "public_ledger.activity",
  summary: "Count receipts by day and category",
  description:
    "Days are those of the receipts' own timestamps; days without receipts are left out. Oldest first.",
  input: z.object({
    days: z.number().int().min(1).max(366).default(30).describe(
      "How many days with receipts, the newest",
    ),
  }),
  output: z.object({
    days: z.array(z.object({
      day: z.string().describe("Like 2026-07-01; empty: the receipts say none"),
      receipts: z.number().int(),
      categories: z.record(z.string(), z.number().int()),
    })),
  }),
  rest: { ledger_activity: "GET /api/activity" },
  example: {
    input: { days: 1 },
    output: { days: [{ day: "2026-07-01", receipts: 2, categories: { self_heal: 2 } }] },
  },
  run: async ({ days }, { store }) => {
    const { rows } = await store.pool.query(
      `SELECT day, sum(n)::float8 AS receipts, json_object_agg(category, n ORDER BY category) AS categories
       FROM ledger_days WHERE day IN (SELECT DISTINCT day FROM ledger_days ORDER BY day DESC LIMIT $1)
       GROUP BY day ORDER BY day`,
      [days],
    );
    return { days: rows };
  },
});

/** The public ledger's own operations, bound by its own process. */
export const ledgerOperations = [
  ...anchorOperations,
  stats,
  activity,
  receipts,
  verify,
  chain,
  health,
  ...wholeOperations,
  ...logOperations,
] as const;

import { z } from "zod";
import { SERVICE } from "../../contract/domain/mod.ts";
import { requireReady } from "../../store/mod.ts";
import { getPublicSize } from "../log/mod.ts";
import {
  countByCategory,
  countByDay,
  exportReceipts,
  listReceipts,
  type StoredReceipt,
} from "../receipts/mod.ts";
import { common, operation } from "./_operation.ts";
import { exampleSummary } from "./_receipt_schemas.ts";
import { parseRecord } from "./_record.ts";
import { getChainState } from "./parts.ts";

const Count = z.number().int();
const Time = z.string().nullable().describe("ISO 8601 with offset, as the receipt says it");
const Intact = z.boolean().nullable().describe(
  "Whether the chain holds up to `verified_through`; null: not known yet",
);
const Breaks = Count.describe("Number of positions that do not hold");
const VerifiedThrough = Count.describe("Position of the newest verified receipt; -1: none");

const stats = operation({
  ...common,
  name: "public_ledger.stats",
  summary: "Count receipts, and report whether the chain holds",
  input: z.object({}),
  output: z.object({
    total_receipts: Count,
    chain_intact: Intact,
    breaks: Breaks,
    verified_through: VerifiedThrough,
    last_hash: z.string().describe("Of the newest receipt; empty if there is none"),
    last_timestamp: Time,
    last_position: Count.describe("-1 if there is none"),
    genesis_timestamp: Time,
    self_heals: Count,
    platform_fixes: Count,
    provenance_summary: z.record(z.string(), Count).describe(
      "Receipts by category, most frequent first",
    ),
  }),
  rest: { ledger_stats: "GET /api/stats" },
  example: {
    input: {},
    output: {
      total_receipts: 42,
      chain_intact: true,
      breaks: 0,
      verified_through: 41,
      last_hash: exampleSummary.sha256,
      last_timestamp: exampleSummary.timestamp,
      last_position: 41,
      genesis_timestamp: "2026-07-01T09:00:00.000000+00:00",
      self_heals: 7,
      platform_fixes: 1,
      provenance_summary: { api_classification: 34, self_heal: 7, platform_fix: 1 },
    },
  },
  run: async (_, parts) => {
    const { store } = parts;
    const state = getChainState(parts);
    const size = await getPublicSize(store);
    const [[newest], [first], categories] = await Promise.all([
      size > 0 ? listReceipts(store, { limit: 1, before: size }) : [],
      exportReceipts(store, { from: 0, to: Math.min(1, size) }),
      countByCategory(store, size),
    ]);
    const byCategory = Object.fromEntries(categories.map(({ category, n }) => [category, n]));
    const timeOf = (receipt?: StoredReceipt) =>
      receipt ? parseRecord(receipt).timestamp ?? null : null;
    return {
      total_receipts: size,
      chain_intact: state.chain_intact,
      breaks: state.breaks,
      verified_through: Math.min(state.verified_through, size - 1),
      last_hash: newest?.hash ?? "",
      last_timestamp: timeOf(newest),
      last_position: size - 1,
      genesis_timestamp: timeOf(first),
      self_heals: byCategory.self_heal ?? 0,
      platform_fixes: byCategory.platform_fix ?? 0,
      provenance_summary: byCategory,
    };
  },
});

const activity = operation({
  ...common,
  name: "public_ledger.activity",
  summary: "Count receipts by day and category",
  description:
    "Days are those of the receipts' own timestamps, oldest first. Days without receipts are left out.",
  input: z.object({
    days: z.number().int().min(1).max(366).default(30).describe(
      "Number of days with receipts, counted back from the newest",
    ),
  }),
  output: z.object({
    days: z.array(z.object({
      day: z.string().describe("Like 2026-07-01; empty if the receipts have no day"),
      receipts: Count,
      categories: z.record(z.string(), Count),
    })),
  }),
  rest: { ledger_activity: "GET /api/activity" },
  example: {
    input: { days: 1 },
    output: { days: [{ day: "2026-07-01", receipts: 2, categories: { self_heal: 2 } }] },
  },
  run: async ({ days }, { store }) => ({
    days: await countByDay(store, { days, size: await getPublicSize(store) }),
  }),
});

const chain = operation({
  ...common,
  name: "public_ledger.chain",
  summary: "Report whether the whole chain holds",
  input: z.object({}),
  output: z.object({
    chain_intact: Intact,
    total: Count.describe(
      "Number of receipts; where checkpoints need the cosignatures of witnesses, of those that a published one covers",
    ),
    breaks: Breaks,
    verified_through: VerifiedThrough,
    first_breaks: z.array(z.object({ position: Count, reason: z.string() })),
    scrub: z.looseObject({ pass: Count, position: Count, size: Count }).nullable().describe(
      "Progress of the pass that verifies all receipts again; null: there was none yet",
    ),
  }),
  rest: { ledger_chain: "GET /api/chain" },
  example: {
    input: {},
    output: {
      chain_intact: true,
      total: 42,
      breaks: 0,
      verified_through: 41,
      first_breaks: [],
      scrub: { pass: 12, position: 20, size: 42 },
    },
  },
  run: async (_, parts) => {
    const { chain_intact, breaks, verified_through, first_breaks, scrub } = getChainState(parts);
    const size = await getPublicSize(parts.store);
    return {
      chain_intact,
      total: size,
      breaks,
      verified_through: Math.min(verified_through, size - 1),
      first_breaks: [...first_breaks],
      scrub: scrub && { ...scrub },
    };
  },
});

const health = operation({
  ...common,
  name: "public_ledger.health",
  summary: "Report whether the ledger can be read",
  input: z.object({}),
  output: z.object({
    status: z.enum(["ok", "verifying", "broken"]),
    service: z.literal(SERVICE.ledger),
    chain_intact: Intact,
    total_receipts: Count,
  }),
  rest: { ledger_health: "GET /api/health" },
  example: {
    input: {},
    output: { status: "ok", service: SERVICE.ledger, chain_intact: true, total_receipts: 42 },
  },
  run: async (_, parts) => {
    await requireReady(parts.store);
    const { chain_intact } = getChainState(parts);
    const size = await getPublicSize(parts.store);
    const status = chain_intact === null ? "verifying" : chain_intact ? "ok" : "broken";
    return { status, service: SERVICE.ledger, chain_intact, total_receipts: size } as const;
  },
});

/** Operations on the whole chain. */
export const chainOperations = [stats, activity, chain, health] as const;

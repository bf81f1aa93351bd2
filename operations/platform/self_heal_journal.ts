import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { listReceipts, type StoredReceipt } from "../../ledger/mod.ts";
import { Limit } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** Categories of the receipts of repairs and escalations. */
const CATEGORIES = ["self_heal", "platform_fix", "escalation"] as const;

type JournalEntry = ReturnType<typeof toEntry>;

/** Receipts of repairs and escalations. */
export const selfHealJournal = operation({
  name: "ledger.self_heal_journal",
  group: "security",
  summary: "List from the ledger what the platform repaired by itself, and what it left to people",
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit }),
  output: z.object({
    entries: z.array(z.object({
      receipt_id: z.string(),
      chain_position: z.number().int(),
      sha256: z.string(),
      category: z.string().describe(CATEGORIES.join(", ")),
      timestamp: z.string(),
      subject: z.string().nullable(),
      action: z.string().nullable(),
      outcome: z.string().nullable(),
      details: z.record(z.string(), z.unknown()),
    })).describe("Newest first; each can be verified by its receipt_id"),
  }),
  tool: { get_self_heal_journal: FULL },
  presentation: {
    tell: ({ entries }) =>
      entries.length === 0
        ? ["The ledger has no repair yet."]
        : entries.map(({ timestamp, subject, action, outcome, receipt_id }: JournalEntry) =>
          `- ${timestamp} ${subject ?? ""} ${action ?? ""}: ${
            outcome ?? ""
          } (receipt ${receipt_id})`
        ),
  },
  example: {
    input: { limit: 1 },
    output: {
      entries: [{
        receipt_id: "9f2c4b7a01d3e856",
        chain_position: 41,
        sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
        category: "self_heal",
        timestamp: "2026-07-01T12:00:00.000000+00:00",
        subject: "INC-4f1d22a90b7c",
        action: "itsm_loop",
        outcome: "sealed",
        details: { rounds: 1 },
      }],
    },
  },
  run: async ({ limit }, { store }) => {
    const receipts = await Promise.all(
      CATEGORIES.map((category) => listReceipts(store, { limit, category })),
    );
    const newest = receipts.flat().sort((a, b) => b.position - a.position).slice(0, limit);
    return { entries: newest.map(toEntry) };
  },
});

function toEntry({ id, position, hash, text }: StoredReceipt) {
  const receipt = JSON.parse(text) as Record<string, unknown>;
  return {
    receipt_id: id,
    chain_position: position,
    sha256: hash,
    category: String(receipt.category),
    timestamp: String(receipt.timestamp),
    subject: textOrNull(receipt.subject),
    action: textOrNull(receipt.action),
    outcome: textOrNull(receipt.outcome),
    details: (receipt.details ?? {}) as Record<string, unknown>,
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

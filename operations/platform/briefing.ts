import { z } from "zod";
import { getHead, listReceipts } from "../../ledger/mod.ts";
import {
  getPlatformCounts,
  getRepairHistory,
  listApprovals,
  listTickets,
} from "../../store/mod.ts";
import { FULL } from "../_audience.ts";
import { exampleTicket, TicketShape } from "../_ticket_shapes.ts";
import { Limit, Timestamp } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

const DAY_MS = 86_400_000;
/** Most of each that a briefing names one by one. */
const MOST_NAMED = 10;

/** What a person who comes on shift has to know. */
export const briefing = operation({
  name: "platform.briefing",
  group: "platform",
  summary: "Brief me: what is open, what waits for people, what was repaired within a day",
  effect: "read",
  access: "key",
  untrusted: true,
  input: z.object({}),
  output: z.object({
    as_of: Timestamp,
    summary: z.string().describe("The same in sentences"),
    services: z.record(z.string(), z.number()).describe("How many are up, down, …"),
    tickets: z.record(z.string(), z.number()),
    urgent: z.array(TicketShape).describe("Open ones, the most severe first"),
    waiting_for_people: z.array(z.object({
      approval_id: z.string(),
      subject: z.string(),
      asked_at: Timestamp,
    })),
    repairs_within_a_day: z.object({
      by_state: z.record(z.string(), z.number()),
      success_rate: z.number().nullable().describe("null: none has ended"),
    }),
    ledger: z.object({
      receipts: z.number().int(),
      chain_intact: z.boolean().nullable().describe("null: not verified yet"),
    }),
  }),
  tool: { get_platform_briefing: FULL },
  example: {
    input: {},
    output: {
      as_of: "2026-07-01T12:00:00.000Z",
      summary: "1 ticket is open. Nothing waits for people. The ledger has 42 receipts.",
      services: { up: 4 },
      tickets: { open: 1, resolved: 7 },
      urgent: [exampleTicket],
      waiting_for_people: [],
      repairs_within_a_day: { by_state: { done: 3 }, success_rate: 1 },
      ledger: { receipts: 42, chain_intact: true },
    },
  },
  run: async (_, { store, chain }) => {
    const db = store.asPlatform();
    const since = new Date(Date.now() - DAY_MS);
    const [counts, urgent, waiting, { by_state, success_rate }, { size }] = await Promise.all([
      getPlatformCounts(db),
      listTickets(db, { status: "open", limit: MOST_NAMED, bySeverity: true }),
      listApprovals(db, { status: "pending", limit: MOST_NAMED }),
      getRepairHistory(db, { since, limit: 1 }),
      getHead(store),
    ]);
    const { tickets, services, pending_approvals } = counts;
    const { chain_intact } = chain.state();
    const repairs = Object.entries(by_state).map(([state, n]) => `${n} ${state}`).join(", ");
    return {
      as_of: new Date().toISOString(),
      summary: [
        `${counted(tickets.open ?? 0, "ticket")} open, ${tickets.escalated} of them with people.`,
        `${counted(services.down ?? 0, "service")} down.`,
        pending_approvals === 1
          ? "1 approval waits for people."
          : `${pending_approvals} approvals wait for people.`,
        `Repairs within a day: ${repairs || "none"}.`,
        `The ledger has ${size} receipts` +
        (chain_intact === false ? ", and its chain is broken." : "."),
      ].join(" "),
      ...{ services, tickets, urgent },
      waiting_for_people: waiting.map(({ id, subject, askedAt }) => ({
        ...{ approval_id: id, subject, asked_at: askedAt },
      })),
      repairs_within_a_day: { by_state: { ...by_state }, success_rate },
      ledger: { receipts: size, chain_intact },
    };
  },
});

const counted = (n: number, what: string) => n === 1 ? `1 ${what} is` : `${n} ${what}s are`;

/** Categories of receipts that tell of what the platform did by itself, or left to people. */
const JOURNAL = ["self_heal", "platform_fix", "escalation"] as const;

/** What the platform healed by itself, from the ledger. */
export const selfHealJournal = operation({
  name: "ledger.self_heal_journal",
  group: "security",
  summary:
    "Read the journal of self-healing from the ledger: what was healed, and what left to people",
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit }),
  output: z.object({
    entries: z.array(z.object({
      receipt_id: z.string(),
      chain_position: z.number().int(),
      sha256: z.string(),
      category: z.string().describe(JOURNAL.join(", ")),
      timestamp: z.string(),
      subject: z.string().nullable(),
      action: z.string().nullable(),
      outcome: z.string().nullable(),
      details: z.record(z.string(), z.unknown()),
    })).describe("Newest first; each can be verified with its receipt_id"),
  }),
  tool: { get_self_heal_journal: FULL },
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
    const pages = await Promise.all(
      JOURNAL.map((category) => listReceipts(store, { limit, category })),
    );
    const newest = pages.flat().sort((a, b) => b.position - a.position).slice(0, limit);
    const text = (value: unknown) => typeof value === "string" ? value : null;
    return {
      entries: newest.map(({ id, position, hash, text: stored }) => {
        const receipt = JSON.parse(stored) as Record<string, unknown>;
        return {
          ...{ receipt_id: id, chain_position: position, sha256: hash },
          category: String(receipt.category),
          timestamp: String(receipt.timestamp),
          subject: text(receipt.subject),
          action: text(receipt.action),
          outcome: text(receipt.outcome),
          details: (receipt.details ?? {}) as Record<string, unknown>,
        };
      }),
    };
  },
});

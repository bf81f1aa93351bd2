import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { assessPlatform, countControls, deriveRisks } from "../../judgement/compliance/mod.ts";
import { countReceiptsByCategory } from "../../store/platform/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { FULL_AND_AUDIT } from "../scopes.ts";
import {
  Counts,
  exampleRisk,
  Risk,
  tellCounts,
  tellRisks,
  tellScores,
  toScores,
} from "./_schemas.ts";

/** Start of an audit. */
export const auditSummary = operation({
  name: "compliance.audit_summary",
  group: "audit",
  summary: "Summarize for an auditor: scores, state of the chain, records, and how to verify them",
  description:
    "Start an audit here: the answer says what is on record and whether the chain of receipts is intact. Then search " +
    "receipts (ledger.search_receipts) and verify those that matter (ledger.verify_receipt).",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    scores: z.object({ nist_csf: z.number(), hipaa: z.number(), soc2: z.number() }),
    controls: Counts,
    chain: z.object({
      chain_intact: z.boolean().nullable().describe("Null: not verified yet"),
      breaks: z.number().int(),
      total_receipts: z.number().int(),
      last_whole_pass: Timestamp.nullable().describe(
        "When all receipts were last verified from their stored bytes; null: never",
      ),
      anchored_in_bitcoin: z.number().int().describe("Receipts in a Bitcoin block"),
    }),
    receipts_by_category: z.record(z.string(), z.number().int()),
    approvals: z.object({
      pending: z.number().int(),
      decided_last_90_days: z.number().int(),
      expired_last_90_days: z.number().int(),
    }),
    keys: z.object({
      active: z.number().int(),
      without_end: z.number().int().describe("Keys that never expire, except those of admins"),
      unused_for_90_days: z.number().int(),
      may_approve: z.number().int().describe("Keys of people who may approve"),
    }),
    risks: z.array(Risk),
    how_to_verify: z.string(),
    assessed_at: Timestamp,
  }),
  tool: { "compliance.audit_summary": FULL_AND_AUDIT },
  presentation: {
    tell: ({ chain, scores, controls, approvals, how_to_verify, risks }) => [
      chain.chain_intact === null
        ? "The chain of receipts is not verified yet."
        : chain.chain_intact
        ? `The chain of ${chain.total_receipts} receipts holds.`
        : `The chain is BROKEN at ${chain.breaks} receipts.`,
      `${approvals.pending} approvals wait, ${approvals.decided_last_90_days} were decided within 90 days.`,
      ...tellScores(scores),
      tellCounts(controls),
      `How to verify: ${how_to_verify}`,
      ...tellRisks(risks),
    ],
  },
  example: {
    input: {},
    output: {
      scores: { nist_csf: 61.4, hipaa: 48.8, soc2: 57.1 },
      controls: { controls_total: 76, fully_evidenced: 22, partial: 37, gaps: 17 },
      chain: {
        chain_intact: true,
        breaks: 0,
        total_receipts: 42,
        last_whole_pass: "2026-07-01T11:00:00.000Z",
        anchored_in_bitcoin: 0,
      },
      receipts_by_category: { self_heal: 3, tool_call: 39 },
      approvals: { pending: 0, decided_last_90_days: 2, expired_last_90_days: 0 },
      keys: { active: 3, without_end: 1, unused_for_90_days: 0, may_approve: 1 },
      risks: [exampleRisk],
      how_to_verify: "http://127.0.0.1:8082/api/how-to-verify",
      assessed_at: "2026-07-01T12:00:00.000Z",
    },
  },
  run: async (_, context) => {
    const { frameworks, facts } = await assessPlatform(context);
    const { nist_csf, hipaa, soc2 } = toScores(frameworks);
    const { keys, approvals, chain, anchors } = facts;
    return {
      scores: { nist_csf: nist_csf.score, hipaa: hipaa.score, soc2: soc2.score },
      controls: countControls(frameworks),
      chain: {
        chain_intact: chain.intact,
        breaks: chain.breaks,
        total_receipts: chain.total,
        last_whole_pass: chain.scrubbed_at,
        anchored_in_bitcoin: anchors.receipts,
      },
      receipts_by_category: await countReceiptsByCategory(context.store.db),
      approvals: {
        pending: approvals.pending,
        decided_last_90_days: approvals.decided,
        expired_last_90_days: approvals.expired,
      },
      keys: {
        active: keys.active,
        without_end: keys.endless,
        unused_for_90_days: keys.stale,
        may_approve: keys.approvers,
      },
      risks: deriveRisks(frameworks),
      how_to_verify: `${context.urls.ledger}/api/how-to-verify`,
      assessed_at: facts.at,
    };
  },
});

import { z } from "zod";
import { type AssessedFramework, deriveRisks } from "../../compliance/mod.ts";
import { countReceiptsByCategory } from "../../store/mod.ts";
import { FULL, FULL_AND_AUDIT } from "../_audience.ts";
import { assessment, countStates } from "./_assessment.ts";
import { Counts, exampleRisk, exampleScores, RiskShape, Scores } from "./_shapes.ts";
import { Timestamp } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

const NOTE =
  "An assessment by the platform of itself, from what it sees; no certification by anybody else. " +
  "What it can't see counts as missing.";

function scoresOf(frameworks: readonly AssessedFramework[]): z.output<typeof Scores> {
  const by = (name: string) => {
    const framework = frameworks.find((one) => one.framework === name)!;
    const { score, status } = framework;
    return { framework, shown: { score, max: 100 as const, status } };
  };
  const soc2 = by("soc2");
  return {
    nist_csf: by("nist_csf").shown,
    hipaa: by("hipaa").shown,
    soc2: {
      ...soc2.shown,
      ...countStates([soc2.framework]),
      breakdown: soc2.framework.controls.map(({ id, category, state }) => ({
        id,
        category,
        state,
      })),
    },
  };
}

/** Scores, from what is true now. Anybody may ask, so what they follow from is not told here. */
export const complianceScores = operation({
  name: "compliance.scores",
  group: "core",
  summary:
    "Score the platform against NIST CSF 2.0, the HIPAA security rule and SOC 2, as it is now",
  description: NOTE,
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({ scores: Scores, assessed_at: Timestamp, note: z.string() }),
  rest: { compliance: "GET /v1/compliance" },
  example: {
    input: {},
    output: { scores: exampleScores, assessed_at: "2026-07-01T12:00:00.000Z", note: NOTE },
  },
  run: async (_, context) => {
    const { frameworks, facts } = await assessment(context);
    return { scores: scoresOf(frameworks), assessed_at: facts.at, note: NOTE };
  },
});

/** The scores with what keeps them from being better. */
export const complianceStatus = operation({
  name: "compliance.status",
  group: "compliance",
  summary: "Give the compliance scores, and the gravest of what is missing for better ones",
  description:
    `${NOTE} Ask grc_controls for the evidence of each control, grc_risks for all risks.`,
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    scores: Scores,
    risks: z.array(RiskShape).describe("The gravest five"),
    assessed_at: Timestamp,
    note: z.string(),
  }),
  tool: { get_compliance_status: FULL },
  example: {
    input: {},
    output: {
      scores: exampleScores,
      risks: [exampleRisk],
      assessed_at: "2026-07-01T12:00:00.000Z",
      note: NOTE,
    },
  },
  run: async (_, context) => {
    const { frameworks, facts } = await assessment(context);
    const risks = deriveRisks(frameworks).slice(0, 5).map((risk) => ({
      ...risk,
      controls: [...risk.controls],
    }));
    return { scores: scoresOf(frameworks), risks, assessed_at: facts.at, note: NOTE };
  },
});

/** The scores in one line. */
export const complianceSummary = operation({
  name: "compliance.summary",
  group: "core",
  summary: "Give the compliance scores in short",
  description: NOTE,
  effect: "read",
  access: "public",
  input: z.object({}),
  output: Counts.extend({
    status: z.string(),
    scores: z.object({ nist_csf: z.number(), hipaa: z.number(), soc2: z.number() }),
    assessed_at: Timestamp,
  }),
  rest: { compliance_summary: "GET /v1/compliance/summary" },
  example: {
    input: {},
    output: {
      ...{ controls_total: 76, fully_evidenced: 22, partial: 37, gaps: 17 },
      status: "internal_assessment",
      scores: { nist_csf: 61.4, hipaa: 48.8, soc2: 57.1 },
      assessed_at: "2026-07-01T12:00:00.000Z",
    },
  },
  run: async (_, context) => {
    const { frameworks, facts } = await assessment(context);
    const scores = scoresOf(frameworks);
    return {
      ...countStates(frameworks),
      status: "internal_assessment",
      scores: {
        nist_csf: scores.nist_csf.score,
        hipaa: scores.hipaa.score,
        soc2: scores.soc2.score,
      },
      assessed_at: facts.at,
    };
  },
});

/** What an auditor asks first. */
export const auditSummary = operation({
  name: "compliance.audit_summary",
  group: "audit",
  summary:
    "Sum up for an auditor: scores, state of the chain, what is on record, and how to check it",
  description:
    "Starts an audit: says what is on record and whether the chain of receipts holds. Then search receipts " +
    "(ledger.search_receipts) and verify those that matter (ledger.verify_receipt).",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    scores: z.object({ nist_csf: z.number(), hipaa: z.number(), soc2: z.number() }),
    controls: Counts,
    chain: z.object({
      chain_intact: z.boolean().nullable(),
      breaks: z.number().int(),
      total_receipts: z.number().int(),
      last_whole_pass: Timestamp.nullable(),
      anchored_in_bitcoin: z.number().int(),
    }),
    receipts_by_category: z.record(z.string(), z.number().int()),
    approvals: z.object({
      pending: z.number().int(),
      decided_last_90_days: z.number().int(),
      expired_last_90_days: z.number().int(),
    }),
    keys: z.object({
      active: z.number().int(),
      without_end: z.number().int().describe("Besides those of admins"),
      unused_for_90_days: z.number().int(),
      may_approve: z.number().int().describe("People"),
    }),
    risks: z.array(RiskShape),
    how_to_verify: z.string(),
    assessed_at: Timestamp,
  }),
  tool: { "compliance.audit_summary": FULL_AND_AUDIT },
  example: {
    input: {},
    output: {
      scores: { nist_csf: 61.4, hipaa: 48.8, soc2: 57.1 },
      controls: { controls_total: 76, fully_evidenced: 22, partial: 37, gaps: 17 },
      chain: {
        ...{ chain_intact: true, breaks: 0, total_receipts: 42 },
        ...{ last_whole_pass: "2026-07-01T11:00:00.000Z", anchored_in_bitcoin: 0 },
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
    const [{ frameworks, facts }, counts] = await Promise.all([
      assessment(context),
      countReceiptsByCategory(context.store.asPlatform()),
    ]);
    const { nist_csf, hipaa, soc2 } = scoresOf(frameworks);
    const { keys, approvals, chain, anchors } = facts;
    return {
      scores: { nist_csf: nist_csf.score, hipaa: hipaa.score, soc2: soc2.score },
      controls: countStates(frameworks),
      chain: {
        chain_intact: chain.intact,
        breaks: chain.breaks,
        total_receipts: chain.total,
        last_whole_pass: chain.scrubbed_at,
        anchored_in_bitcoin: anchors.receipts,
      },
      receipts_by_category: counts,
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
      risks: deriveRisks(frameworks).map((risk) => ({ ...risk, controls: [...risk.controls] })),
      how_to_verify: `${context.urls.ledger}/api/how-to-verify`,
      assessed_at: facts.at,
    };
  },
});

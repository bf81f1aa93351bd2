import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { assessPlatform, countControls, deriveRisks } from "../../judgement/compliance/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";
import {
  Counts,
  exampleRisk,
  exampleScores,
  Risk,
  Scores,
  tellRisks,
  tellScores,
  toScores,
} from "./_schemas.ts";

const NOTE =
  "The platform assesses itself, by what it can see. This is no certification by an independent auditor. " +
  "Evidence that the platform cannot see counts as missing.";

const MAX_RISKS = 5;

/** Scores as they are now. They are public, so the controls behind them are left out. */
export const complianceScores = operation({
  name: "compliance.scores",
  group: "core",
  summary: "Score the platform now against NIST CSF 2.0, the HIPAA Security Rule and SOC 2",
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
    const { frameworks, facts } = await assessPlatform(context);
    return { scores: toScores(frameworks), assessed_at: facts.at, note: NOTE };
  },
});

/** Scores with the worst risks. */
export const complianceStatus = operation({
  name: "compliance.status",
  group: "compliance",
  summary: "Get the compliance scores and the five highest risks",
  description:
    `${NOTE} For the evidence of each control call grc_controls, for all risks grc_risks.`,
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    scores: Scores,
    risks: z.array(Risk).describe(`The ${MAX_RISKS} highest, highest first`),
    assessed_at: Timestamp,
    note: z.string(),
  }),
  tool: { get_compliance_status: FULL },
  presentation: {
    tell: ({ scores, risks }) => [...tellScores(scores), ...tellRisks(risks)],
    toolText: {
      get_compliance_status:
        "For how the platform stands; for a control's evidence grc_controls, for all risks grc_risks, for an audit's begin compliance.audit_summary. It assesses itself: no certification.",
    },
  },
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
    const { frameworks, facts } = await assessPlatform(context);
    return {
      scores: toScores(frameworks),
      risks: deriveRisks(frameworks).slice(0, MAX_RISKS),
      assessed_at: facts.at,
      note: NOTE,
    };
  },
});

/** Scores in short. */
export const complianceSummary = operation({
  name: "compliance.summary",
  group: "core",
  summary: "Get a summary of the compliance scores",
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
      controls_total: 76,
      fully_evidenced: 22,
      partial: 37,
      gaps: 17,
      status: "internal_assessment",
      scores: { nist_csf: 61.4, hipaa: 48.8, soc2: 57.1 },
      assessed_at: "2026-07-01T12:00:00.000Z",
    },
  },
  run: async (_, context) => {
    const { frameworks, facts } = await assessPlatform(context);
    const { nist_csf, hipaa, soc2 } = toScores(frameworks);
    return {
      ...countControls(frameworks),
      status: "internal_assessment",
      scores: { nist_csf: nist_csf.score, hipaa: hipaa.score, soc2: soc2.score },
      assessed_at: facts.at,
    };
  },
});

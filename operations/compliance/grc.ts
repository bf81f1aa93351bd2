import { z } from "zod";
import { type AssessedControl, deriveRisks } from "../../compliance/mod.ts";
import { FULL } from "../_audience.ts";
import { assessment, countStates } from "./_assessment.ts";
import { ControlShape, Counts, exampleRisk, FrameworkField, RiskShape } from "./_shapes.ts";
import { Timestamp } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

/** Whether controls can be assessed. */
export const grcHealth = operation({
  name: "grc.health",
  group: "compliance",
  summary: "Tell whether controls can be assessed, and by what",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    status: z.enum(["ok", "degraded"]),
    mode: z.literal("built_in").describe("The catalogue that ships, held against this platform"),
    frameworks: z.array(
      z.object({ framework: FrameworkField, title: z.string(), controls: z.number().int() }),
    ),
    unseen: z.array(z.string()).describe("Evidence that nothing is set up for"),
    assessed_at: Timestamp,
  }),
  tool: { grc_health: FULL },
  example: {
    input: {},
    output: {
      status: "ok",
      mode: "built_in",
      frameworks: [{ framework: "soc2", title: "SOC 2 common criteria", controls: 33 }],
      unseen: ["backups"],
      assessed_at: "2026-07-01T12:00:00.000Z",
    },
  },
  run: async (_, context) => {
    const { frameworks, facts } = await assessment(context);
    const evidence = frameworks.flatMap(({ controls }) => controls).flatMap(({ evidence }) =>
      evidence
    );
    const unseen = evidence.filter(({ state }) => state === "not_configured").map(({ name }) =>
      name
    );
    const ok = facts.engine && facts.chain.intact !== null;
    return {
      status: ok ? "ok" as const : "degraded" as const,
      mode: "built_in" as const,
      frameworks: frameworks.map(({ framework, title, controls }) => ({
        ...{ framework, title, controls: controls.length },
      })),
      unseen: [...new Set(unseen)],
      assessed_at: facts.at,
    };
  },
});

/** Controls, with evidence and receipts. */
export const grcControls = operation({
  name: "grc.controls",
  group: "compliance",
  summary: "List controls: how each stands, by what evidence, and which receipts prove it",
  effect: "read",
  access: "key",
  input: z.object({
    framework: FrameworkField.optional().describe("Only this one; all where it is left out"),
  }),
  output: z.object({ controls: z.array(ControlShape), assessed_at: Timestamp }),
  tool: { grc_controls: FULL },
  example: {
    input: { framework: "soc2" },
    output: {
      controls: [{
        framework: "soc2",
        id: "CC6.7",
        category: "Access",
        title: "Data are guarded when they move",
        state: "pass",
        share: 1,
        evidence: [{
          name: "encrypted_transport",
          state: "met",
          because: "The servers speak TLS",
        }],
        receipts: [],
      }],
      assessed_at: "2026-07-01T12:00:00.000Z",
    },
  },
  run: async ({ framework }, context) => {
    const { frameworks, facts } = await assessment(context);
    const wanted = frameworks.filter((one) => !framework || one.framework === framework);
    const { ledger } = context.urls;
    return {
      controls: wanted.flatMap(({ controls }) => controls).map((one) => shown(one, ledger)),
      assessed_at: facts.at,
    };
  },
});

function shown({ evidence, receipts, ...rest }: AssessedControl, ledger: string) {
  return {
    ...rest,
    evidence: [...evidence],
    receipts: receipts.map((receipt) => ({
      ...receipt,
      verify_url: `${ledger}/api/verify/${receipt.id}`,
    })),
  };
}

/** Risks. */
export const grcRisks = operation({
  name: "grc.risks",
  group: "compliance",
  summary: "List what may go wrong for want of evidence, the gravest first, and what mends it",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({ risks: z.array(RiskShape), assessed_at: Timestamp }),
  tool: { grc_risks: FULL },
  example: {
    input: {},
    output: { risks: [exampleRisk], assessed_at: "2026-07-01T12:00:00.000Z" },
  },
  run: async (_, context) => {
    const { frameworks, facts } = await assessment(context);
    return {
      risks: deriveRisks(frameworks).map((risk) => ({ ...risk, controls: [...risk.controls] })),
      assessed_at: facts.at,
    };
  },
});

/** All frameworks at a glance. */
export const grcSummary = operation({
  name: "grc.summary",
  group: "compliance",
  summary: "Sum up how the controls of each framework stand, and how many risks there are",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    frameworks: z.array(Counts.extend({
      framework: FrameworkField,
      title: z.string(),
      score: z.number(),
      status: z.string(),
    })),
    risks: z.object({ high: z.number().int(), medium: z.number().int(), low: z.number().int() })
      .describe("By rating: high 5 and 6, medium 3 and 4, low 1 and 2"),
    assessed_at: Timestamp,
  }),
  rest: { grc_compliance: "GET /v1/integrations/grc/compliance" },
  tool: { grc_summary: FULL },
  example: {
    input: {},
    output: {
      frameworks: [{
        ...{ framework: "soc2", title: "SOC 2 common criteria", score: 57.1 },
        status: "internal_assessment",
        ...{ controls_total: 33, fully_evidenced: 9, partial: 17, gaps: 7 },
      }],
      risks: { high: 2, medium: 3, low: 1 },
      assessed_at: "2026-07-01T12:00:00.000Z",
    },
  },
  run: async (_, context) => {
    const { frameworks, facts } = await assessment(context);
    const ratings = deriveRisks(frameworks).map(({ rating }) => rating);
    const between = (least: number, most: number) =>
      ratings.filter((rating) => rating >= least && rating <= most).length;
    return {
      frameworks: frameworks.map((one) => {
        const { framework, title, score, status } = one;
        return { framework, title, score, status, ...countStates([one]) };
      }),
      risks: { high: between(5, 6), medium: between(3, 4), low: between(1, 2) },
      assessed_at: facts.at,
    };
  },
});

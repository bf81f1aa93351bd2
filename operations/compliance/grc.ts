import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import {
  assessPlatform,
  countControls,
  deriveRisks,
  type FrameworkName as Framework,
} from "../../judgement/compliance/mod.ts";
import { systemFor, unlessAway } from "../integrations/acts/mod.ts";
import { exampleView, IntegrationView, tellView, Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";
import {
  Control,
  Counts,
  exampleRisk,
  FrameworkName,
  Risk,
  tellCounts,
  tellRisks,
  toControl,
} from "./_schemas.ts";

const Total = z.number().int().min(0);
const Entries = z.object({
  total: Total,
  by_state: z.record(z.string(), Total).describe("Of the first 100"),
});
const Register = z.object({
  frameworks: z.object({ total: Total, names: z.array(z.string()) }),
  assessments: z.object({
    total: Total,
    first: z.array(z.object({
      name: z.string(),
      framework: z.string().nullable(),
      status: z.string().nullable(),
      progress: z.number().nullable().describe("Percent"),
    })),
  }),
  applied_controls: Entries,
  risk_scenarios: Entries,
});

/** Health of the assessment. */
export const grcHealth = operation({
  name: "grc.health",
  group: "compliance",
  summary: "Check whether controls can be assessed, and against which frameworks",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView.extend({
    frameworks: z.array(
      z.object({ framework: FrameworkName, title: z.string(), controls: z.number().int() }),
    ),
    unseen: z.array(z.string()).describe("Evidence whose source is not configured"),
    assessed_at: Timestamp,
    register: Register.nullable().describe(
      "What the operator's CISO Assistant has, for the operator's own keys; null: none is set, or it does not answer",
    ),
  }),
  tool: { grc_health: FULL },
  presentation: { tell: (view) => [tellView(view)] },
  example: {
    input: {},
    output: {
      ...exampleView,
      integration: "grc",
      detail: "102 controls of 3 frameworks are assessed",
      frameworks: [{ framework: "soc2", title: "SOC 2 common criteria", controls: 33 }],
      unseen: ["backups"],
      assessed_at: "2026-07-01T12:00:00.000Z",
      register: null,
    },
  },
  run: async (_, context) => {
    const [view, { frameworks, facts }, register] = await Promise.all([
      context.views.view("grc", context),
      assessPlatform(context),
      unlessAway(systemFor("grc", context)?.read(), null),
    ]);
    const controls = frameworks.flatMap((framework) => framework.controls);
    const unseen = controls.flatMap(({ evidence }) => evidence)
      .filter(({ state }) => state === "not_configured").map(({ name }) => name);
    return {
      ...view,
      frameworks: frameworks.map(({ framework, title, controls }) => ({
        framework,
        title,
        controls: controls.length,
      })),
      unseen: [...new Set(unseen)],
      assessed_at: facts.at,
      register,
    };
  },
});

/** Controls with their evidence. */
export const grcControls = operation({
  name: "grc.controls",
  group: "compliance",
  summary: "List controls with their state, their evidence and the receipts that prove it",
  effect: "read",
  access: "key",
  input: z.object({
    framework: FrameworkName.optional().describe("Only this framework; default: all"),
  }),
  output: z.object({ controls: z.array(Control), assessed_at: Timestamp }),
  tool: { grc_controls: FULL },
  presentation: {
    tell: ({ controls }) =>
      controls.map(({ framework, id, title, state, evidence }: z.output<typeof Control>) =>
        `- ${framework} ${id} ${title}: ${state} (${
          evidence.map(({ because }) => because).join("; ")
        })`
      ),
    toolText: { grc_controls: "For the evidence of each control; grc_summary counts them." },
  },
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
    const { frameworks, facts } = await assessPlatform(context);
    const controls = frameworks.filter((one) => !framework || one.framework === framework)
      .flatMap(({ controls }) => controls);
    return {
      controls: controls.map((control) => toControl(control, context.urls.ledger)),
      assessed_at: facts.at,
    };
  },
});

/** Risks that follow from missing evidence. */
export const grcRisks = operation({
  name: "grc.risks",
  group: "compliance",
  summary: "List the risks of missing evidence with their treatment, highest first",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({ risks: z.array(Risk), assessed_at: Timestamp }),
  tool: { grc_risks: FULL },
  presentation: { tell: ({ risks }) => tellRisks(risks) },
  example: {
    input: {},
    output: { risks: [exampleRisk], assessed_at: "2026-07-01T12:00:00.000Z" },
  },
  run: async (_, context) => {
    const { frameworks, facts } = await assessPlatform(context);
    return { risks: deriveRisks(frameworks), assessed_at: facts.at };
  },
});

/** Counts for all frameworks. */
export const grcSummary = operation({
  name: "grc.summary",
  group: "compliance",
  summary: "Count the controls of each framework by state, and the risks by rating",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: IntegrationView.extend({
    scores: z.record(FrameworkName, z.number().min(0).max(100)).describe("By framework"),
    frameworks: z.array(Counts.extend({
      framework: FrameworkName,
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
  presentation: {
    tell: ({ frameworks, risks }) => [
      ...frameworks.map((
        { title, score, ...counts }: z.output<typeof Counts> & {
          readonly title: string;
          readonly score: number;
        },
      ) => `- ${title}: ${score} of 100; ${tellCounts(counts)}`),
      `Risks: ${risks.high} high, ${risks.medium} medium, ${risks.low} low.`,
    ],
    toolText: { grc_summary: "Numbers alone; grc_controls has the evidence." },
  },
  example: {
    input: {},
    output: {
      ...exampleView,
      integration: "grc",
      detail: "102 controls of 3 frameworks are assessed",
      scores: { nist_csf: 61.3, hipaa: 55.9, soc2: 57.1 },
      frameworks: [{
        framework: "soc2",
        title: "SOC 2 common criteria",
        score: 57.1,
        status: "internal_assessment",
        controls_total: 33,
        fully_evidenced: 9,
        partial: 17,
        gaps: 7,
      }],
      risks: { high: 2, medium: 3, low: 1 },
      assessed_at: "2026-07-01T12:00:00.000Z",
    },
  },
  run: async (_, context) => {
    const [view, { frameworks, facts }] = await Promise.all([
      context.views.view("grc", context),
      assessPlatform(context),
    ]);
    const scores = frameworks.map(({ framework, score }) => [framework, score]);
    const ratings = deriveRisks(frameworks).map(({ rating }) => rating);
    const count = (min: number, max: number) =>
      ratings.filter((rating) => rating >= min && rating <= max).length;
    return {
      ...view,
      scores: Object.fromEntries(scores) as Record<Framework, number>,
      frameworks: frameworks.map((one) => {
        const { framework, title, score, status } = one;
        return { framework, title, score, status, ...countControls([one]) };
      }),
      risks: { high: count(5, 6), medium: count(3, 4), low: count(1, 2) },
      assessed_at: facts.at,
    };
  },
});

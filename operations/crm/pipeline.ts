import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { type Pipeline, readPipelines } from "./records/mod.ts";
import {
  getStageFigures,
  getStayFigures,
  type StageFigures,
  type StayFigures,
} from "../../store/crm/mod.ts";

const StageStats = z.object({
  stage: z.string(),
  count: z.number().int().describe("Deals that are in it now"),
  amount_minor: z.number().int(),
  weighted_minor: z.number().int().describe(
    "Amount times the stage's probability; 0 where the stage ended the deals as lost, or is in the file no more",
  ),
  median_days: z.number().nullable().describe(
    "Median of the days that deals stayed in it before they left it; null: none has left it",
  ),
});
const PipelineStats = z.object({
  name: z.string(),
  currency: z.string().nullable().describe("Of the deals; null: there are none"),
  stages: z.array(StageStats).describe("In the order of the pipeline"),
  win_rate: z.number().nullable().describe(
    "Won of those won and lost, 0 to 1; null: none was decided",
  ),
});

/** Figures of each pipeline. */
export const pipelineStats = operation({
  name: "pipeline.stats",
  group: "crm",
  summary: "Get the figures of each pipeline: deals, amounts, days per stage, win rate",
  description:
    "Amounts of different currencies are never added: a pipeline is listed once for each.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({ pipelines: z.array(PipelineStats) }),
  rest: { pipeline_stats: "GET /api/pipeline/stats" },
  presentation: { errors: ["NotConfigured"] },
  example: {
    input: {},
    output: {
      pipelines: [{
        name: "sales",
        currency: "EUR",
        stages: [
          ...[["lead", 2, 300_000, 30_000, 3.5], [
            "proposal",
            1,
            1_250_000,
            625_000,
            null,
          ]] as const,
        ].map(([stage, count, amount_minor, weighted_minor, median_days]) => ({
          stage,
          count,
          amount_minor,
          weighted_minor,
          median_days,
        })),
        win_rate: 0.5,
      }],
    },
  },
  run: async (_, { store, config }) => {
    const pipelines = readPipelines(config);
    const [figures, stays] = await Promise.all([
      getStageFigures(store.db),
      getStayFigures(store.db),
    ]);
    const names = new Set([
      ...pipelines.map(({ pipeline }) => pipeline),
      ...figures.map(({ pipeline }) => pipeline),
    ]);
    return {
      pipelines: [...names].flatMap((name) => {
        const known = pipelines.find(({ pipeline }) => pipeline === name);
        const own = figures.filter(({ pipeline }) => pipeline === name);
        const currencies = [...new Set(own.map(({ currency }) => currency))];
        return (currencies.length > 0 ? currencies : [null]).map((currency) =>
          statsOf(
            name,
            known,
            currency,
            own.filter((one) => one.currency === currency),
            stays.filter((stay) => stay.pipeline === name && stay.currency === currency),
          )
        );
      }),
    };
  },
});

/** @param pipeline undefined: it is in the file no more, but deals are in it */
function statsOf(
  name: string,
  pipeline: Pipeline | undefined,
  currency: string | null,
  figures: readonly StageFigures[],
  stays: readonly StayFigures[],
): z.output<typeof PipelineStats> {
  const listed = pipeline?.stages ?? [];
  const stages = new Set([
    ...listed.map(({ stage }) => stage),
    ...figures.map(({ stage }) => stage),
  ]);
  const won = figures.reduce((sum, one) => sum + one.won, 0);
  const lost = figures.reduce((sum, one) => sum + one.lost, 0);
  return {
    name,
    currency,
    stages: [...stages].map((stage) => {
      const { count = 0, amount_minor = 0 } = figures.find((one) => one.stage === stage) ?? {};
      const percent = percentOf(listed.find((one) => one.stage === stage));
      return {
        stage,
        count,
        amount_minor,
        weighted_minor: Math.round(amount_minor * percent / 100),
        median_days: stays.find((stay) => stay.stage === stage)?.median_days ?? null,
      };
    }),
    win_rate: won + lost === 0 ? null : Math.round(won / (won + lost) * 1000) / 1000,
  };
}

function percentOf(stage: Pipeline["stages"][number] | undefined): number {
  if (stage === undefined) return 0;
  if ("probability" in stage) return stage.probability;
  return stage.ends === "won" ? 100 : 0;
}

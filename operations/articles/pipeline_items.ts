import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { PIPELINE_STAGES } from "../../contract/domain/mod.ts";
import { listPipelineItems } from "../../store/articles/mod.ts";
import { Limit } from "../schemas/mod.ts";
import { exampleItem, PIPELINE, PipelineItem, Stage, toItem } from "./_item.ts";

const MAX_ON_BOARD = 500;

/** Items, newest first. */
export const pipelineItems = operation({
  ...PIPELINE,
  name: "pipeline.items",
  summary: "List what is to be published, newest first",
  effect: "read",
  input: z.object({ stage: Stage.optional().describe("Only items of this stage"), limit: Limit }),
  output: z.object({ total: z.number().int(), items: z.array(PipelineItem) }),
  rest: { pipeline_items: "GET /api/pipeline/items" },
  example: { input: { stage: "idea" }, output: { total: 1, items: [exampleItem] } },
  async run(filter, { store }) {
    const { total, items } = await listPipelineItems(store.db, filter);
    return { total, items: items.map(toItem) };
  },
});

/** Items by their stage. */
export const pipelineBoard = operation({
  ...PIPELINE,
  name: "pipeline.board",
  summary: "Show what is to be published, by its stage",
  effect: "read",
  input: z.object({}),
  output: z.object({
    stages: z.array(z.object({ stage: Stage, items: z.array(PipelineItem) })),
  }),
  rest: { pipeline_board: "GET /api/pipeline/board" },
  example: {
    input: {},
    output: {
      stages: PIPELINE_STAGES.map((stage) => ({
        stage,
        items: stage === "idea" ? [exampleItem] : [],
      })),
    },
  },
  async run(_, { store }) {
    const { items } = await listPipelineItems(store.db, { limit: MAX_ON_BOARD });
    return {
      stages: PIPELINE_STAGES.map((stage) => ({
        stage,
        items: items.filter((item) => item.stage === stage).map(toItem),
      })),
    };
  },
});

import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { countArticles, countPipelineItems } from "../../store/articles/mod.ts";
import { exampleView, IntegrationView } from "../schemas/mod.ts";
import { countVideoProjects } from "../../store/media/mod.ts";

const Counts = z.record(z.string(), z.number().int());

/** Figures of articles and the pipeline, and the health of what they use. */
export const missionStats = operation({
  name: "missions.stats",
  group: "missions",
  summary: "Count articles by state and items by stage, and tell how the integrations are",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    seo: Counts.describe("Articles by their state"),
    video: Counts.describe("Films by their state"),
    pipeline: Counts.describe("Items by their stage"),
    bridges: z.array(IntegrationView),
  }),
  rest: { missions_stats: "GET /api/stats" },
  example: {
    input: {},
    output: {
      seo: { published: 3, review: 1 },
      video: { done: 1 },
      pipeline: { idea: 2, published: 3 },
      bridges: [exampleView],
    },
  },
  async run(_, context) {
    const { store, views } = context;
    const [seo, video, pipeline, bridges] = await Promise.all([
      countArticles(store.db),
      countVideoProjects(store.db),
      countPipelineItems(store.db),
      views.all(context),
    ]);
    return { seo, video, pipeline, bridges };
  },
});

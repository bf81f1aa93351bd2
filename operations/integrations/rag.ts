import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { countPassages } from "../../store/mod.ts";
import { exampleView, IntegrationView } from "../schemas/mod.ts";

/** Collections of the knowledge base. */
export const ragCollections = operation({
  name: "rag.collections",
  group: "integrations",
  summary: "List the collections of the knowledge base, with the number of their documents",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: IntegrationView.extend({
    collections: z.array(z.object({ name: z.string(), documents: z.number().int().min(0) }))
      .describe("Articles that ship, and past incidents of your tenant"),
  }),
  rest: { rag_collections: "GET /v1/integrations/rag/collections" },
  example: {
    input: {},
    output: {
      ...exampleView,
      collections: [{ name: "articles", documents: 161 }, { name: "incidents", documents: 12 }],
    },
  },
  run: async (_, { views, store }) => {
    const [view, { articles, incidents }] = await Promise.all([
      views.view("rag"),
      countPassages(store.db),
    ]);
    return {
      ...view,
      collections: [
        { name: "articles", documents: articles },
        { name: "incidents", documents: incidents },
      ],
    };
  },
});

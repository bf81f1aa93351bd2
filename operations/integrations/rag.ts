import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { countPassages } from "../../store/mod.ts";
import { exampleView, IntegrationView, Sha256, text } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

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

/** Passages that answer a question. */
export const ragQuery = operation({
  name: "rag.query",
  group: "integrations",
  summary: "Find the passages of the knowledge base that answer a question",
  description:
    "Passages are articles that ship and past incidents of your tenant, best first. Each is whole, and its `sha256` is the " +
    "one by which citations name it. `answer` is null: in this form no words but those of the passages are given.",
  effect: "read",
  access: "key",
  untrusted: true,
  input: z.object({ question: text(1, 4_000).describe("In plain words") }),
  output: z.object({
    answer: z.string().nullable(),
    passages: z.array(z.object({
      id: z.string().describe("Of the article or the ticket"),
      text: z.string(),
      score: z.number().describe("Comparable within one answer only"),
      sha256: Sha256,
    })),
  }),
  tool: { rag_query: FULL },
  errors: ["Unavailable"],
  example: {
    input: { question: "Why does a certificate chain fail?" },
    output: {
      answer: null,
      passages: [{
        id: "certificate-chain",
        text: "The chain is incomplete\nSymptoms:\n- …",
        score: 11.2,
        sha256: "3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10",
      }],
    },
  },
  run: async ({ question }, { engine, store }) => {
    const { passages } = await engine.search(question, store.tenant);
    return { answer: null, passages };
  },
});

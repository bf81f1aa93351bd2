import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { systemFor, unlessAway } from "./acts/mod.ts";
import { writeAnswer } from "../models/writing/mod.ts";
import { MODEL_PROVIDERS } from "../../contract/domain/mod.ts";
import { MIN_TREATMENT } from "../../judgement/engine/mod.ts";
import { countPassages } from "../../store/platform/mod.ts";
import { exampleView, IntegrationView, Sha256, text } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** A passage that was found. */
type Passage = Readonly<Record<"id" | "text", string>>;

const NOTHING_TREATS_IT = "Nothing in the knowledge base treats the question";

/** Collections of the knowledge base. */
export const ragCollections = operation({
  name: "rag.collections",
  group: "integrations",
  summary: "List the collections of the knowledge base, with the number of their documents",
  effect: "read",
  access: "public",
  input: z.object({}),
  description: "The operator's own keys see those of Weaviate instead, where that is set.",
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
  run: async (_, context) => {
    const { views, store } = context;
    const weaviate = systemFor("rag", context);
    if (weaviate) {
      const [view, collections] = await Promise.all([
        views.view("rag", context),
        unlessAway(weaviate.listCollections(), []),
      ]);
      return { ...view, collections };
    }
    const [view, { articles, incidents }] = await Promise.all([
      views.view("rag", context),
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

/** Passages that answer a question, and an answer that a model has written from them. */
export const ragQuery = operation({
  name: "rag.query",
  group: "integrations",
  summary: "Find the passages of the knowledge base that answer a question",
  description:
    "Passages are articles that ship and past incidents of your tenant, best first. Each is whole, and its `sha256` is the " +
    "one by which citations name it. Where Weaviate is set, the operator's own keys get its documents instead. Where a model " +
    "is configured, it writes `answer` within your budgets, as by `/v1/ai`; each sentence is held against the passages whose " +
    "numbers follow it, and an answer with one that does not hold is not shown. `reason` says why there is none. Where no " +
    "passage treats the question there are none, and `reason` says so. Past " +
    "incidents and Weaviate's documents are shown to models on the platform's own machine alone.",
  effect: "read",
  access: "key",
  input: z.object({ question: text(1, 4_000).describe("In plain words") }),
  output: z.object({
    answer: z.string().nullable().describe(
      "Sentences, each followed by the numbers of passages, from 1: … [1, 2]",
    ),
    reason: z.string().nullable().describe("Why there is no answer; null: there is one"),
    written_by: z.object({
      provider: z.enum(MODEL_PROVIDERS),
      model: z.string(),
      cost_micro: z.number().int().nullable().describe(
        "Millionths of a US dollar; null: the model's price is not known",
      ),
      receipt_id: z.string().describe("Receipt of this use"),
    }).nullable().describe("The model that was asked, which is billed also where it is not shown"),
    passages: z.array(z.object({
      id: z.string().describe("Of the article or the ticket"),
      text: z.string(),
      score: z.number().describe("Comparable within one answer only"),
      sha256: Sha256,
    })),
  }),
  tool: { rag_query: FULL },
  presentation: {
    tell: ({ answer, reason, passages }) => [
      answer ?? `There is no answer: ${reason}.`,
      ...passages.map(({ id, text }: Passage, n: number) =>
        `[${n + 1}] ${id}: ${text.split("\n", 1)[0]}`
      ),
    ],
    toolText: {
      rag_query:
        "For how a kind of fault is mended: articles, and past incidents of your tenant. What happened here, the incidents' tools tell. Where nothing treats the question, `reason` says so.",
    },
    hints: { openWorld: true },
    untrusted: true,
    errors: ["Unavailable"],
  },
  example: {
    input: { question: "Why does a certificate chain fail?" },
    output: {
      answer: "The server does not send the certificate between its own and the root. [1]",
      reason: null,
      written_by: {
        provider: "anthropic",
        model: "claude-haiku-5-5",
        cost_micro: 412,
        receipt_id: "9f2c4b7a01d3e8569f2c4b7a01d3e856",
      },
      passages: [{
        id: "certificate-chain",
        text: "The chain is incomplete\nSymptoms:\n- …",
        score: 11.2,
        sha256: "3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10",
      }],
    },
  },
  run: async ({ question }, context) => {
    const found = await findPassages(question, context);
    if (found.length === 0) {
      return { answer: null, reason: NOTHING_TREATS_IT, written_by: null, passages: [] };
    }
    const { answer, reason, use } = await writeAnswer(context, question, found);
    return {
      answer,
      reason,
      written_by: use && {
        provider: use.provider,
        model: use.model,
        cost_micro: use.costMicro,
        receipt_id: use.receiptId,
      },
      passages: found.map(({ id, text, score, sha256 }) => ({ id, text, score, sha256 })),
    };
  },
});

/** Finds passages that treat a question, and says which may leave this machine: articles are public, and nothing else. */
async function findPassages(question: string, context: Context) {
  const { engine, store } = context;
  const weaviate = systemFor("rag", context);
  if (weaviate) {
    return (await weaviate.search(question)).map((one) => ({ ...one, isShared: false }));
  }
  const { passages } = await engine.search(question, store.tenant);
  return passages.filter(({ treatment }) => treatment >= MIN_TREATMENT)
    .map((one) => ({ ...one, isShared: one.kind === "article" }));
}

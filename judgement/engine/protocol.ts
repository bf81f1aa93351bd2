/** Requests to the engine's process and its answers: the shapes that both ends check. */
import { z } from "zod";
import { DECISIONS, SEVERITIES } from "../../contract/domain/mod.ts";
import { RAILS } from "../guard/mod.ts";
import { CATEGORIES, MIN_ADVICE_CONFIDENCE, MIN_RELEVANCE } from "./classifier/mod.ts";

/** A report to classify. */
export const CLASSIFY_REQUEST = z.strictObject({
  description: z.string().min(1).max(20_000),
  source: z.string().max(200),
  /** Tenant that asks: passages are shared ones and its own. */
  tenant: z.string().min(1),
  /** `house`, the default: passages may be of past incidents as well. */
  audience: z.enum(["public", "house"]).optional(),
  /** The kind of the fault, where it was measured: articles are chosen by it, and no model is asked. */
  measured: z.strictObject({
    category: z.enum(CATEGORIES),
    /** Id of the article about just this fault. */
    article: z.string().nullable(),
  }).optional(),
});

const Citation = z.object({
  id: z.string(),
  title: z.string(),
  score: z.number().min(0).max(1).describe("How likely it is about the fault"),
  sha256: z.string().regex(/^[0-9a-f]{64}$/).describe(
    "SHA-256 of the cited text, 64 hex characters",
  ),
});

/** The classification of a report. */
export const CLASSIFICATION = z.object({
  category: z.enum(CATEGORIES),
  severity: z.enum(SEVERITIES),
  confidence: z.number().min(0).max(1).describe("How likely the category is right"),
  recommended_action: z.string().describe(
    `What to check first, and what to do then; without a citation, or below a confidence of ${MIN_ADVICE_CONFIDENCE}, that ` +
      "a person has to read the report",
  ),
  citations: z.array(Citation).describe(
    `Articles and past incidents about the fault, best first: those with a score of at least ${MIN_RELEVANCE}`,
  ),
});

/** The passages that were retrieved for a report, best first. */
export const RAG_CONTEXT = z.object({
  passages: z.array(Citation.extend({
    kind: z.enum(["article", "incident"]).describe("Knowledge that ships, or a resolved ticket"),
    text: z.string().describe("The passage, cut where it is long"),
  })),
});

/** The whole answer to a report. */
export const CLASSIFY_RESULT = z.object({
  classification: CLASSIFICATION,
  rag_context: RAG_CONTEXT,
  provider: z.string().describe("Who answered: local, or the name of a model's provider"),
  elapsed_seconds: z.number().min(0),
});

/** A question to the knowledge base. */
export const SEARCH_REQUEST = z.strictObject({
  question: z.string().min(1).max(4_000),
  /** Tenant that asks: passages are shared ones and its own. */
  tenant: z.string().min(1),
});

/** Passages that share words with a question, best first. */
export const SEARCH_RESULT = z.object({
  passages: z.array(z.object({
    id: z.string(),
    text: z.string(),
    score: z.number().describe("> 0; comparable within one answer only"),
    treatment: z.number().describe("How much of the question it treats, ≥ 0"),
    sha256: z.string().describe("Of the text, hex"),
    kind: z.enum(["article", "incident"]),
  })),
});

/** An action to validate. */
export const VALIDATE_REQUEST = z.strictObject({
  /** Tenant whose services, tickets and repairs count. */
  tenant: z.string().min(1),
  incident: z.string(),
  action: z.looseObject({}).optional(),
  context: z.strictObject({
    ticket_id: z.string().optional(),
    changes: z.enum(["nothing", "command", "more"]).optional(),
    listed: z.boolean().optional(),
    citations: z.array(z.strictObject({ id: z.string(), sha256: z.string() })).optional(),
    observed: z.record(z.string(), z.unknown()).optional(),
  }).optional(),
});

/** The guardrails' verdict. Anything else allows nothing. */
export const GUARD_VERDICT = z.object({
  approved: z.boolean(),
  decision: z.enum(DECISIONS),
  rails: z.array(z.object({
    rail: z.enum(RAILS),
    passed: z.boolean(),
    reasons: z.array(z.string()),
    remedy: z.string().nullable(),
  })),
  policy_version: z.string(),
}).refine(({ approved, decision }) => approved === (decision === "allow"), {
  message: "approved has to be true for the decision allow, and false for others",
});

/** The answer of `GET /health`. */
export const HEALTH = z.object({
  ready: z.object({ classify: z.boolean(), validate: z.boolean() }),
});

/** Readiness of the engine, by kind of request. */
export type EngineHealth = z.output<typeof HEALTH>["ready"];

/** Returns the passages of an answer that it cites, best first. */
export function citedPassages(
  { classification: { citations }, rag_context: { passages } }: ClassifyResult,
): ClassifyResult["rag_context"]["passages"] {
  return passages.filter(({ id }) => citations.some((citation) => citation.id === id));
}

/** The parameter of {@linkcode Engine.classify}. */
export type ClassifyRequest = z.output<typeof CLASSIFY_REQUEST>;

/** The result of {@linkcode Engine.search}. */
export type SearchResult = z.output<typeof SEARCH_RESULT>;

/** The result of {@linkcode Engine.classify}. */
export type ClassifyResult = z.output<typeof CLASSIFY_RESULT>;

/** What the engine's process is asked, and what it answers: the shapes that both ends check. */
import { z } from "zod";
import { DECISIONS, SEVERITIES } from "../domain/mod.ts";
import { RAILS } from "../guard/mod.ts";
import { CATEGORIES } from "./labels.ts";

/**
 * Confidence below which a verdict is a guess: of such, less than half have the right category in cross-validation, in
 * each of the bins (docs/engine.md). A recipe for another fault does harm, so none is given with a guess.
 */
export const GUESS_BELOW = 0.4;

/** What is advised at a confidence: with a guess, that a person reads the report. */
export function adviceAt(confidence: number, advice: string): string {
  return confidence < GUESS_BELOW
    ? `Have a person read the report: a confidence of ${
      confidence.toFixed(2)
    } is a guess, and too little to act on.`
    : advice;
}

/** What is to be classified. */
export const CLASSIFY = z.strictObject({
  description: z.string().min(1).max(20_000),
  source: z.string().max(200),
  /** `house`, the default: past incidents may be told of as well. */
  audience: z.enum(["public", "house"]).optional(),
});

const Citation = z.object({
  id: z.string(),
  title: z.string(),
  score: z.number().describe("Higher is better; comparable within one answer only"),
  sha256: z.string().regex(/^[0-9a-f]{64}$/).describe(
    "SHA-256 of the cited text, 64 hex characters",
  ),
});

/** A verdict on a report. */
export const CLASSIFICATION = z.object({
  category: z.enum(CATEGORIES),
  severity: z.enum(SEVERITIES),
  confidence: z.number().min(0).max(1).describe("How likely the category is right"),
  recommended_action: z.string().describe(
    `What to check first, and what to do then; below a confidence of ${GUESS_BELOW}, that a person has to read the report`,
  ),
  citations: z.array(Citation).describe("What the verdict rests on, best first"),
});

/** What was retrieved for a report, best first. */
export const RAG_CONTEXT = z.object({
  passages: z.array(Citation.extend({
    kind: z.enum(["article", "incident"]).describe("Knowledge that ships, or a resolved ticket"),
    text: z.string().describe("The passage, cut where it is long"),
  })),
});

/** The whole answer to a report. */
export const CLASSIFIED = z.object({
  classification: CLASSIFICATION,
  rag_context: RAG_CONTEXT,
  provider: z.string().describe("Who answered: local, or the name of a model's provider"),
  elapsed_seconds: z.number().min(0),
});

/** A repair that is proposed. */
export const VALIDATE = z.strictObject({
  incident: z.string(),
  action: z.looseObject({}).optional(),
  context: z.strictObject({
    ticket_id: z.string().optional(),
    listed: z.boolean().optional(),
    citations: z.array(z.strictObject({ id: z.string(), sha256: z.string() })).optional(),
    observed: z.record(z.string(), z.unknown()).optional(),
  }).optional(),
});

/** The guardrails' verdict. What is no such verdict allows nothing. */
export const VERDICT = z.object({
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
  message: "approved is true for allow alone",
});

/** Whether the process is ready for either. */
export const HEALTH = z.object({
  ready: z.object({ classify: z.boolean(), validate: z.boolean() }),
});

/** What the engine is ready for. */
export type Health = z.output<typeof HEALTH>["ready"];

/** What {@linkcode Engine.classify} takes. */
export type ClassifyRequest = z.output<typeof CLASSIFY>;

/** What {@linkcode Engine.classify} gives. */
export type Classified = z.output<typeof CLASSIFIED>;

/** Requests to write from evidence, and what a model writes: the shapes that both ends check. */
import { z } from "zod";
import { INVISIBLE } from "./providers/mod.ts";

/** Most pieces of evidence. */
const MAX_EVIDENCE = 66;
/** Characters of a piece of evidence. */
const MAX_EVIDENCE_LENGTH = 240;
/** Characters of a report or a question. */
export const MAX_REPORT_LENGTH = 4_000;
/** The cause in a diagnosis that can name none. */
export const NO_CAUSE = "(none)";
/** Steps of a diagnosis, or sentences of an answer. */
const MAX_CLAIMS = 8;

const Evidence = z.strictObject({
  n: z.number().int().min(1).describe("By which it is cited"),
  from: z.string().max(40).describe("Who found it"),
  text: z.string().max(MAX_EVIDENCE_LENGTH),
});

const Tool = z.strictObject({
  name: z.string().max(40),
  about: z.string().max(200),
  of_service: z.boolean().describe("Whether it is asked about one service"),
});

const Names = z.array(z.string().min(1).max(200)).max(200);
const Objections = z.array(z.string().max(400)).max(12);

/** A request to write. */
export const WRITE_REQUEST = z.strictObject({
  task: z.enum(["diagnosis", "answer", "plan", "hypotheses"]),
  report: z.string().max(MAX_REPORT_LENGTH).describe("What is reported, or asked"),
  evidence: z.array(Evidence).max(MAX_EVIDENCE),
  services: Names.describe("That a diagnosis may name as the cause, or a plan ask about"),
  tools: z.array(Tool).max(20).optional().describe("That a plan may choose from"),
  hypotheses: z.array(z.strictObject({
    cause: z.string().max(60),
    says: z.string().max(200),
    evidence: z.array(z.number().int()).max(40).describe("What the rules name it by"),
  })).max(8).optional().describe("That may be put in another order"),
  objections: Objections.describe("To what it wrote before"),
});

const Claim = z.strictObject({
  text: z.string().trim().min(1).max(400)
    .refine((text) => !INVISIBLE.test(text) && !/\n/.test(text)),
  evidence: z.array(z.number().int()).max(12).describe("Numbers of what it rests on"),
});

/** A diagnosis by a model. Only its shape is checked. */
export const DIAGNOSIS = z.strictObject({
  cause: z.string().max(200).refine((name) => !INVISIBLE.test(name)),
  confidence: z.number().min(0).max(1),
  diagnosis: Claim,
  steps: z.array(Claim).min(1).max(MAX_CLAIMS),
});

/** An answer by a model. Only its shape is checked. */
export const WRITTEN_ANSWER = z.strictObject({ claims: z.array(Claim).min(1).max(MAX_CLAIMS) });

/** A choice of tools by a model. Only its shape is checked. `of` is empty where a tool is asked about no service. */
export const PLAN = z.strictObject({
  looks: z.array(z.strictObject({ tool: z.string().max(40), of: z.string().max(200) })).max(6),
});

/** Hypotheses in a model's order, and its words for each. Only its shape is checked. */
export const HYPOTHESES = z.strictObject({
  order: z.array(z.strictObject({ cause: z.string().max(60), why: Claim })).max(MAX_CLAIMS),
});

/** The result of a request to write. */
export const WRITE_RESULT = z.object({
  diagnosis: DIAGNOSIS.nullable(),
  answer: WRITTEN_ANSWER.nullable(),
  plan: PLAN.nullable(),
  hypotheses: HYPOTHESES.nullable(),
  provider: z.string().nullable().describe("Of the model that was asked; null: none is configured"),
  model: z.string().nullable(),
  asked: z.boolean().describe("Whether it was asked; some things are told to no model"),
  reason: z.string().nullable().describe("Why it wrote nothing that can be used"),
});

/** The parameter of {@linkcode Engine.write}. */
export type WriteRequest = z.output<typeof WRITE_REQUEST>;

/** The result of {@linkcode Engine.write}. */
export type WriteResult = z.output<typeof WRITE_RESULT>;

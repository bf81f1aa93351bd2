/** What a model is asked to write from evidence, and what it answers: the shapes that both ends check. */
import { z } from "zod";
import { UNSEEN } from "./providers/mod.ts";

/** Most of what is given as evidence, and the most letters of a piece of it. */
export const MOST_EVIDENCE = 66;
/** Letters that a piece of evidence is cut at. */
export const LONGEST_EVIDENCE = 240;
/** Most letters of what is reported or asked that a model is given. */
export const LONGEST_REPORT = 4_000;
/** What a model says where it can name no cause. */
export const NO_CAUSE = "(none)";
/** Most steps of a diagnosis, or sentences of an answer. */
const MOST_CLAIMS = 8;

const Evidence = z.strictObject({
  n: z.number().int().min(1).describe("By which it is cited"),
  from: z.string().max(40).describe("Who found it"),
  text: z.string().max(LONGEST_EVIDENCE),
});

const Tool = z.strictObject({
  name: z.string().max(40),
  about: z.string().max(200),
  of_service: z.boolean().describe("Whether it is asked about one service"),
});

const Names = z.array(z.string().min(1).max(200)).max(200);
const Objections = z.array(z.string().max(400)).max(12);

/** What is to be written. */
export const WRITE = z.strictObject({
  task: z.enum(["diagnosis", "answer", "plan"]),
  report: z.string().max(LONGEST_REPORT).describe("What is reported, or asked"),
  evidence: z.array(Evidence).max(MOST_EVIDENCE),
  services: Names.describe("That a diagnosis may name as the cause, or a plan ask about"),
  tools: z.array(Tool).max(20).optional().describe("That a plan may choose from"),
  objections: Objections.describe("To what it wrote before"),
});

const Claim = z.strictObject({
  text: z.string().trim().min(1).max(400).refine((text) => !UNSEEN.test(text) && !/\n/.test(text)),
  evidence: z.array(z.number().int()).max(12).describe("Numbers of what it rests on"),
});

/** A diagnosis by a model, of which nothing is checked but its shape. */
export const DIAGNOSIS = z.strictObject({
  cause: z.string().max(200).refine((name) => !UNSEEN.test(name)),
  confidence: z.number().min(0).max(1),
  diagnosis: Claim,
  steps: z.array(Claim).min(1).max(MOST_CLAIMS),
});

/** An answer by a model, likewise. */
export const WRITTEN_ANSWER = z.strictObject({ claims: z.array(Claim).min(1).max(MOST_CLAIMS) });

/** A choice of tools by a model, likewise. `of` is empty where a tool is asked about no service. */
export const PLAN = z.strictObject({
  looks: z.array(z.strictObject({ tool: z.string().max(40), of: z.string().max(200) })).max(6),
});

/** What came of it. */
export const WRITING = z.object({
  diagnosis: DIAGNOSIS.nullable(),
  answer: WRITTEN_ANSWER.nullable(),
  plan: PLAN.nullable(),
  provider: z.string().nullable().describe("Of the model that was asked; null: none is configured"),
  model: z.string().nullable(),
  asked: z.boolean().describe("Whether it was asked; some things are told to no model"),
  reason: z.string().nullable().describe("Why it wrote nothing that can be used"),
});

/** What {@linkcode Engine.write} takes. */
export type WriteRequest = z.output<typeof WRITE>;
/** What {@linkcode Engine.write} gives. */
export type Writing = z.output<typeof WRITING>;
/** A diagnosis as a model wrote it. */
export type WrittenDiagnosis = z.output<typeof DIAGNOSIS>;
/** An answer as a model wrote it. */
export type WrittenAnswer = z.output<typeof WRITTEN_ANSWER>;
/** A sentence with what it rests on. */
export type Claim = z.output<typeof Claim>;

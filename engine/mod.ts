/**
 * Judgement that needs no network: what a report is about, how bad it is, and what is known of such faults.
 *
 * ```ts
 * const { classify, search } = await openClassifier();
 * const { category, severity, confidence } = classify({ description, source: "api" });
 * ```
 *
 * The process that serves it, and how the other processes ask:
 *
 * ```ts
 * const engine = openEngine({ url, secret });
 * const { classification } = await engine.classify({ description, source }); // throws EngineAway
 * ```
 *
 * Learns from the articles and reports that ship with it; the same files give the same verdicts. Trusts nothing that a
 * report says: its text is counted, never followed.
 * @module
 */
export { BOUNDS as LEARNING_BOUNDS, lessonReceiptId } from "./arbiter.ts";
export {
  CLASSIFICATION,
  type Classified,
  type ClassifyRequest,
  GUESS_BELOW,
  type Health,
  RAG_CONTEXT,
} from "./answers.ts";
export { type Engine, EngineAway, type EngineOptions, openEngine } from "./client.ts";
export { findInjection, type GuardVerdict, type ValidateRequest } from "../guard/mod.ts";
export { openModel } from "./providers/mod.ts";
export { type Judge, openJudge } from "./judge.ts";
export { type Knowledge, type Learning, openKnowledge } from "./retrieval.ts";
export { sharedSecret } from "./secret.ts";
export { createEngineApp, type EngineParts } from "./service.ts";
export { openWriter, type Writer } from "./writer.ts";
export {
  type Claim,
  LONGEST_EVIDENCE,
  LONGEST_REPORT,
  MOST_EVIDENCE,
  NO_CAUSE,
  type WriteRequest,
  type Writing,
  type WrittenAnswer,
  type WrittenDiagnosis,
} from "./writing.ts";
export { openClassifier } from "./classifier.ts";
export type { Citation, Classifier, Report, Verdict } from "./classifier.ts";
export type { Article } from "./knowledge.ts";
export { CATEGORIES } from "./labels.ts";
export type { Category } from "./labels.ts";
export type { Hit, Search } from "./search.ts";
export { sealedLearning } from "./sealed_learning.ts";

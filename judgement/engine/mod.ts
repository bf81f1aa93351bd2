/**
 * The judgement of reports: what one is about, how bad it is, what is known of such faults, and what a model writes.
 *
 * ```ts
 * const engine = openEngine({ url, secret }); // a client; the engine is a process of its own
 * const { classification } = await engine.classify({ description, source }); // throws EngineUnavailable
 * ```
 *
 * The process itself is put together of {@linkcode openClassifier}, {@linkcode openKnowledgeBase},
 * {@linkcode createReportClassifier}, {@linkcode openWriter} and {@linkcode createEngineApp}.
 *
 * Trusts nothing that a report says: its text is counted, never followed.
 * @module
 */
export { arbitrate, type Arbitration, LEARNING_BOUNDS, lessonReceiptId } from "./arbiter.ts";
export {
  adviceAt,
  cache,
  CATEGORIES,
  type Classifier,
  MIN_ADVICE_CONFIDENCE,
  MIN_TREATMENT,
  openClassifier,
  readReports,
} from "./classifier/mod.ts";
export { type Engine, EngineUnavailable, openEngine } from "./client.ts";
export { type KnowledgeBase, openKnowledgeBase } from "./knowledge_base.ts";
export {
  citedPassages,
  CLASSIFICATION,
  type ClassifyRequest,
  type ClassifyResult,
  RAG_CONTEXT,
} from "./protocol.ts";
export {
  type Chat,
  ChatFailure,
  type ChatFailureCode,
  type ChatMessage,
  type ChatPart,
  type ChatRequest,
  createFence,
  type Fence,
  openChat,
  openModel,
  PROVIDER_SETTINGS,
} from "./providers/mod.ts";
export { type ClassifyReport, createReportClassifier } from "./report_classifier.ts";
export { ENGINE_SECRET_FILE, loadEngineSecret } from "./secret.ts";
export { createEngineApp } from "./service.ts";
export { openWriter } from "./writer.ts";
export { MAX_REPORT_LENGTH, NO_CAUSE, type WriteRequest, type WriteResult } from "./writing.ts";

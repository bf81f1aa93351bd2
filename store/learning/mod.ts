/**
 * The knowledge base, and lessons of resolved tickets.
 *
 * ```ts
 * const matches = await searchKnowledge(db, stems, { kinds: ["article"], limit: 5 });
 * ```
 * @module
 */
export {
  type KnowledgeChange,
  listUnlearntTickets,
  type NewPassage,
  type ResolvedTicket,
  storeArticles,
  storeIncidents,
} from "./knowledge.ts";
export { getPassageTexts, type PassageMatch, searchKnowledge } from "./knowledge_search.ts";
export {
  addLearningItems,
  applyLearningItem,
  getLearningItem,
  type LearningItem,
  type LearningRecord,
  listQueuedLearningItems,
} from "./learning.ts";
export { getLearningMetrics } from "./learning_metrics.ts";

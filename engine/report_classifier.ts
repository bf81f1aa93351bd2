/** Answers a report with the classification of the local classifier or of a model, and with retrieved passages. */
import type { Logger } from "pino";
import { adviceAt, type Classification, type Classifier } from "./classifier/mod.ts";
import type { KnowledgeBase, Passage } from "./knowledge_base.ts";
import type { ClassifyRequest, ClassifyResult } from "./protocol.ts";
import { type Answer, type Model, NoAnswer, type Question } from "./providers/mod.ts";

/** Classifies a report. */
export type ClassifyReport = (request: ClassifyRequest) => Promise<ClassifyResult>;

/** Passages of an answer, and citations of its classification. */
const MAX_PASSAGES = 5;
const MAX_CITATIONS = 3;
/** Passages that the answer's are chosen from. */
const CANDIDATES = 12;
/** Longest text of a passage in an answer, in UTF-16 units. */
const MAX_PASSAGE_LENGTH = 1_200;
/** For the whole answer; the client waits for 2,000. */
const ANSWER_MS = 1_850;
/** Constant of reciprocal rank fusion: the higher, the less the first places count. @see Cormack et al., 2009 */
const RANK_CONSTANT = 60;

/** The parts that answer a report. */
export interface ReportClassifierParts {
  readonly classifier: Classifier;
  readonly knowledge: KnowledgeBase;
  /** A model that is asked besides, and its time limit in milliseconds. */
  readonly asking?: { readonly model: Model; readonly ms: number } | undefined;
  readonly log: Logger;
}

/** Makes a function that classifies reports. */
export function createReportClassifier(
  { classifier, knowledge, asking, log }: ReportClassifierParts,
): ClassifyReport {
  return async (request) => {
    const started = performance.now();
    const { citations, ...local } = classifier.classify(request);
    const candidates = await knowledge.find(request.description, {
      tenant: request.tenant,
      incidents: request.audience !== "public",
      limit: CANDIDATES,
    });
    const cited = citations.flatMap(({ id }) => knowledge.article(id) ?? []);
    const passages = fuse(rankByCategory(candidates, local), cited, local.category)
      .slice(0, MAX_PASSAGES)
      .map((passage) => ({ ...passage, text: passage.text.slice(0, MAX_PASSAGE_LENGTH) }));
    const msLeft = ANSWER_MS - (performance.now() - started);
    const answer = await askModel({ ...request, passages }, msLeft);
    const { category, severity, confidence, recommended_action } = answer ?? local;
    const sources = answer ? passages.filter(({ id }) => answer.citations.includes(id)) : passages;
    return {
      classification: {
        category,
        severity,
        confidence,
        recommended_action: adviceAt(confidence, recommended_action),
        citations: sources.slice(0, MAX_CITATIONS)
          .map(({ id, title, score, sha256 }) => ({ id, title, score, sha256 })),
      },
      rag_context: { passages: passages.map(({ category: _, ...rest }) => rest) },
      provider: answer && asking ? asking.model.provider : "local",
      elapsed_seconds: Math.round(performance.now() - started) / 1_000,
    };
  };

  /** Returns the model's answer, or undefined where the local classification has to do. */
  async function askModel(question: Question, msLeft: number): Promise<Answer | undefined> {
    if (!asking || msLeft < 1) return undefined;
    const { model, ms } = asking;
    try {
      return await model.classify(question, Math.floor(Math.min(ms, msLeft))); // timers take integers
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      log.warn({ provider: model.provider, reason: error.message }, "A model gave no answer");
      return undefined;
    }
  }
}

/** Ranks passages by score. Those of other categories count less, the surer the classification is. */
function rankByCategory(
  passages: readonly Passage[],
  { category, confidence }: Pick<Classification, "category" | "confidence">,
): Passage[] {
  const weighted = (passage: Passage) =>
    passage.score * (passage.category === category ? 1 : 1 - confidence);
  return passages.toSorted((a, b) => weighted(b) - weighted(a));
}

/**
 * Merges two rankings of passages (reciprocal rank fusion): by words alone, and by the classifier. The passage that the
 * recommended action is taken from comes first.
 */
function fuse(
  found: readonly Passage[],
  cited: readonly Passage[],
  category: string,
): Passage[] {
  const source = cited.find((passage) => passage.category === category)?.id;
  const all = new Map([...cited, ...found].map((passage) => [passage.id, passage]));
  const share = (list: readonly Passage[], id: string) => {
    const at = list.findIndex((passage) => passage.id === id);
    return at < 0 ? 0 : (RANK_CONSTANT + 1) / (RANK_CONSTANT + 1 + at) / 2;
  };
  return [...all.values()]
    .map((passage) => ({
      ...passage,
      score: Math.round(1_000 * (share(found, passage.id) + share(cited, passage.id))) / 1_000,
    }))
    .sort((a, b) => Number(b.id === source) - Number(a.id === source) || b.score - a.score);
}

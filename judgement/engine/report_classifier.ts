/** Answers a report with the classification of the local classifier or of a model, and with retrieved passages. */
import type { Logger } from "pino";
import { adviceAt, type Classifier, type RankedPassage } from "./classifier/mod.ts";
import type { KnowledgeBase } from "./knowledge_base.ts";
import type { ClassifyRequest, ClassifyResult } from "./protocol.ts";
import { type Answer, type Model, NoAnswer, type Question } from "./providers/mod.ts";

/** Classifies a report. */
export type ClassifyReport = (request: ClassifyRequest) => Promise<ClassifyResult>;

/** Passages of an answer, and citations of its classification. */
const MAX_PASSAGES = 5;
const MAX_CITATIONS = 3;
/** Past incidents that are ranked with the articles. */
const MAX_INCIDENTS = 5;
/** Longest text of a passage in an answer, in UTF-16 units. */
const MAX_PASSAGE_LENGTH = 1_200;
/** For the whole answer; the client waits for 2,000. */
const ANSWER_MS = 1_850;

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
    const { description, source, measured, tenant } = request;
    const incidents = request.audience === "public"
      ? []
      : await knowledge.find(description, { tenant, kinds: ["incident"], limit: MAX_INCIDENTS });
    const { passages: ranked, citations, ...local } = classifier.classify(
      { description, source, known: measured?.category },
      incidents,
    );
    const byId = new Map(incidents.map((passage) => [passage.id, passage]));
    const passages = withMeasured(ranked, measured).flatMap(({ id, score }) => {
      const passage = knowledge.article(id) ?? byId.get(id);
      return passage
        ? [{ ...passage, score, text: passage.text.slice(0, MAX_PASSAGE_LENGTH) }]
        : [];
    }).slice(0, MAX_PASSAGES);
    const msLeft = ANSWER_MS - (performance.now() - started);
    const answer = measured ? undefined : await askModel({ ...request, passages }, msLeft);
    const { category, severity, confidence } = answer ?? local;
    // What a model recommends in its own words is never shown.
    const advice = answer ? classifier.advise(answer.citations) : local.recommended_action;
    const cited = (answer ?? { citations: citations.map(({ id }) => id) }).citations;
    const sources = passages.filter(({ id }) => id === measured?.article || cited.includes(id));
    return {
      classification: {
        category,
        severity,
        confidence,
        recommended_action: adviceAt(confidence, advice),
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

/** Returns the passages with the article about just the fault that was measured, if there is one, as the first. */
function withMeasured(
  ranked: readonly Pick<RankedPassage, "id" | "score">[],
  measured: ClassifyRequest["measured"],
): readonly Pick<RankedPassage, "id" | "score">[] {
  const article = measured?.article;
  if (!article) return ranked;
  return [{ id: article, score: 1 }, ...ranked.filter(({ id }) => id !== article)];
}

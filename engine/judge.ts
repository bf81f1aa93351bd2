/** Puts the engine's answer to a report together. */
import { adviceAt, type Classified, type ClassifyRequest } from "./answers.ts";
import type { Classifier, Verdict } from "./classifier.ts";
import { type Answer, type Model, NoAnswer, type Question } from "./providers/mod.ts";
import type { Knowledge, Passage } from "./retrieval.ts";
import type { Log } from "../web/mod.ts";

/** Answers reports. */
export type Judge = (request: ClassifyRequest) => Promise<Classified>;

/** Passages that an answer comes with, and those of them that a verdict names. */
const PASSAGES = 5;
const CITED = 3;
/** Passages that are looked at for them. */
const LOOKED_AT = 12;
/** Longest text of a passage in an answer, in UTF-16 units. */
const LONGEST = 1_200;
/** For the whole answer, milliseconds; who asks waits for 2,000. */
const ANSWER_MS = 1_850;
/** How little the first places of a list count more than those after them. @see Cormack et al., 2009 */
const RANK = 60;

/** What a judge judges by. */
export interface JudgeParts {
  readonly classifier: Classifier;
  readonly knowledge: Knowledge;
  /** A model that is asked besides, and the time that it has, milliseconds. */
  readonly asking?: { readonly model: Model; readonly ms: number } | undefined;
  readonly log: Log;
}

/** Makes a judge. */
export function openJudge({ classifier, knowledge, asking, log }: JudgeParts): Judge {
  return async (request) => {
    const started = performance.now();
    const { citations, ...verdict } = classifier.classify(request);
    const found = likely(
      await knowledge.find(request.description, {
        incidents: request.audience !== "public",
        limit: LOOKED_AT,
      }),
      verdict,
    );
    const cited = citations.flatMap(({ id }) => knowledge.article(id) ?? []);
    const passages = fuse(found, cited, verdict.category).slice(0, PASSAGES)
      .map((passage) => ({ ...passage, text: passage.text.slice(0, LONGEST) }));
    const answer = await askModel(
      { ...request, passages },
      ANSWER_MS - (performance.now() - started),
    );
    const judged = answer ?? verdict;
    const named = answer ? passages.filter(({ id }) => answer.citations.includes(id)) : passages;
    return {
      classification: {
        ...judged,
        recommended_action: adviceAt(judged.confidence, judged.recommended_action),
        citations: named.slice(0, CITED)
          .map(({ id, title, score, sha256 }) => ({ id, title, score, sha256 })),
      },
      rag_context: {
        passages: passages.map(({ category: _, ...rest }) => rest),
      },
      provider: answer && asking ? asking.model.provider : "local",
      elapsed_seconds: Math.round(performance.now() - started) / 1_000,
    };
  };

  /** The model's answer, or undefined where the engine's own has to do. */
  async function askModel(question: Question, msLeft: number): Promise<Answer | undefined> {
    if (!asking || msLeft < 1) return undefined;
    const { model, ms } = asking;
    try {
      return await model.ask(question, Math.floor(Math.min(ms, msLeft))); // timers take whole ones
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      log.warn({ provider: model.provider, reason: error.message }, "A model gave no answer");
      return undefined;
    }
  }
}

/** Passages anew by their scores, where those of other categories count the less the surer the verdict is. */
function likely(
  found: readonly Passage[],
  { category, confidence }: Pick<Verdict, "category" | "confidence">,
): Passage[] {
  const counts = (passage: Passage) =>
    passage.score * (passage.category === category ? 1 : 1 - confidence);
  return found.toSorted((a, b) => counts(b) - counts(a));
}

/**
 * Puts two rankings of passages together (reciprocal rank fusion): by the words alone, and by what the classifier takes
 * the report for. The passage that the recommended action is taken from comes first.
 */
function fuse(
  found: readonly Passage[],
  cited: readonly Passage[],
  category: string,
): Passage[] {
  const action = cited.find((passage) => passage.category === category)?.id;
  const all = new Map([...cited, ...found].map((passage) => [passage.id, passage]));
  const share = (list: readonly Passage[], id: string) => {
    const at = list.findIndex((passage) => passage.id === id);
    return at < 0 ? 0 : (RANK + 1) / (RANK + 1 + at) / 2;
  };
  return [...all.values()]
    .map((passage) => ({
      ...passage,
      score: Math.round(1_000 * (share(found, passage.id) + share(cited, passage.id))) / 1_000,
    }))
    .sort((a, b) => Number(b.id === action) - Number(a.id === action) || b.score - a.score);
}

/** Puts the engine's answer to a report together. */
import type { Classified, ClassifyRequest } from "./answers.ts";
import type { Classifier } from "./classifier.ts";
import { hashOfText, textOf } from "./passages.ts";

/** Answers reports. */
export type Judge = (request: ClassifyRequest) => Promise<Classified>;

/** Passages that a report's answer comes with. */
const PASSAGES = 5;
/** Longest text of a passage, in UTF-16 units. */
const PASSAGE = 1_200;

/** Makes the judge of what is known. */
export function judgeBy({ classify, search }: Classifier): Judge {
  return async (request) => {
    const started = performance.now();
    const { citations, ...verdict } = classify(request);
    const passages = search(request.description).slice(0, PASSAGES).map(({ article, score }) => {
      const text = textOf(article);
      const { id, title } = article;
      const sha256 = hashOfText(text);
      return { id, title, score, sha256, kind: "article" as const, text: text.slice(0, PASSAGE) };
    });
    const hashes = new Map(passages.map(({ id, sha256 }) => [id, sha256]));
    return {
      classification: {
        ...verdict,
        citations: citations.filter(({ id }) => hashes.has(id)).map(({ id, title, score }) => ({
          id,
          title,
          score,
          sha256: hashes.get(id)!,
        })),
      },
      rag_context: { passages },
      provider: "local",
      elapsed_seconds: Math.round(performance.now() - started) / 1000,
    };
  };
}

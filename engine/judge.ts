/** Puts the engine's answer to a report together. */
import type { Classified, ClassifyRequest } from "./answers.ts";
import type { Classifier } from "./classifier.ts";
import type { Knowledge, Passage } from "./retrieval.ts";

/** Answers reports. */
export type Judge = (request: ClassifyRequest) => Promise<Classified>;

/** Passages that an answer comes with, and those of them that a verdict names. */
const PASSAGES = 5;
const CITED = 3;
/** Passages that are looked at for them. */
const LOOKED_AT = 12;
/** Longest text of a passage in an answer, in UTF-16 units. */
const LONGEST = 1_200;
/** How little the first places of a list count more than those after them. @see Cormack et al., 2009 */
const RANK = 60;

/** Makes a judge. */
export function openJudge(
  { classifier, knowledge }: { readonly classifier: Classifier; readonly knowledge: Knowledge },
): Judge {
  return async (request) => {
    const started = performance.now();
    const { citations, ...verdict } = classifier.classify(request);
    const found = await knowledge.find(request.description, {
      incidents: request.audience !== "public",
      limit: LOOKED_AT,
    });
    const cited = citations.flatMap(({ id }) => knowledge.article(id) ?? []);
    const passages = fuse(found, cited, verdict.category).slice(0, PASSAGES);
    return {
      classification: {
        ...verdict,
        citations: passages.slice(0, CITED)
          .map(({ id, title, score, sha256 }) => ({ id, title, score, sha256 })),
      },
      rag_context: {
        passages: passages.map(({ category: _, text, ...rest }) => ({
          ...rest,
          text: text.slice(0, LONGEST),
        })),
      },
      provider: "local",
      elapsed_seconds: Math.round(performance.now() - started) / 1_000,
    };
  };
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

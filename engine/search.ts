/** Finds the articles that a text is most likely to be about, by what they share. */
import type { Article } from "./knowledge.ts";
import { countOf, type Term, type TermsIn } from "./terms.ts";

/** An article that was found. */
export interface Hit {
  readonly article: Article;
  /** > 0; the more rare terms it shares with the text, the higher. Comparable within one search only. */
  readonly score: number;
}

/** How much an article speaks of each term. */
export interface Terms {
  readonly weights: ReadonlyMap<string, number>;
  /** Sum of the weights of its words. */
  readonly length: number;
}

/** Finds articles. */
export type Search = (text: string) => Hit[];

const MAX_HITS = 20;
/** Terms that more than this share of the articles have tell them apart by nothing but chance. */
const MOST_SHARE = 0.25;
/** Saturation of repeated terms, and how much long articles are held back. @see Robertson and Zaragoza, 2009 */
const K1 = 1.2;
const B = 0.5;

/** Indexes articles for {@linkcode Search} (BM25 over weighted fields). */
export function searchIn(
  articles: readonly Article[],
  documents: readonly Terms[],
  termsIn: TermsIn,
): Search {
  const usual = documents.reduce((sum, { length }) => sum + length, 0) / (documents.length || 1);
  const postings = new Map<string, { readonly at: number; readonly weight: number }[]>();
  for (const [at, { weights, length }] of documents.entries()) {
    const held = K1 * (1 - B + B * length / usual);
    for (const [term, n] of weights) {
      const one = { at, weight: n * (K1 + 1) / (n + held) };
      const list = postings.get(term);
      if (list) list.push(one);
      else postings.set(term, [one]);
    }
  }
  return (text) => {
    const scores = new Map<number, number>();
    for (const term of distinct(termsIn(text))) {
      const found = postings.get(term.name);
      if (!found || found.length > articles.length * MOST_SHARE) continue;
      const rarity = Math.log(1 + (articles.length - found.length + 0.5) / (found.length + 0.5));
      for (const { at, weight } of found) {
        scores.set(at, (scores.get(at) ?? 0) + countOf(term) * rarity * weight);
      }
    }
    return [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, MAX_HITS)
      .map(([at, score]) => ({ article: articles[at]!, score }));
  };
}

function distinct(terms: readonly Term[]): Iterable<Term> {
  return new Map(terms.map((term) => [term.name, term])).values();
}

/** Terms of an article, with their weights: of what it is called and how people name it, the most. */
export function termsOf(article: Article, termsIn: TermsIn): Terms {
  const weights = new Map<string, number>();
  let length = 0;
  const fields: readonly (readonly [number, readonly string[]])[] = [
    [3, [article.title, ...Object.values(article.words).flat()]],
    [2, [...article.symptoms, ...article.applies_to]],
    [1, [...article.causes, ...article.checks, ...article.fixes]],
  ];
  for (const [weight, texts] of fields) {
    for (const { name, kind } of texts.flatMap(termsIn)) {
      weights.set(name, (weights.get(name) ?? 0) + weight);
      if (kind === "word") length += weight;
    }
  }
  return { weights, length };
}

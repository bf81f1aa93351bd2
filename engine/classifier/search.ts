/** Finds the articles that a text is most likely about, by the terms they share. */
import { type Term, type TermReader, weightOfKind } from "./_terms.ts";
import type { Article } from "./training_data.ts";

/** An article that a search found. */
export interface SearchHit {
  readonly article: Article;
  /** > 0; higher with more and rarer shared terms. Comparable within one search only. */
  readonly score: number;
}

/** Finds articles, best first. */
export type Search = (text: string) => SearchHit[];

/** The terms of an article, weighted. */
export interface ArticleTerms {
  readonly weights: ReadonlyMap<string, number>;
  /** Sum of the weights of its words. */
  readonly length: number;
}

const MAX_HITS = 20;
/** A term that a larger share of the articles has says nothing about one of them. */
const MAX_DOCUMENT_SHARE = 0.25;
/** BM25: saturation of repeated terms, and penalty for long articles. @see Robertson and Zaragoza, 2009 */
const K1 = 1.2;
const B = 0.5;

/** Indexes articles for {@linkcode Search} (BM25 over weighted fields). */
export function createSearch(
  articles: readonly Article[],
  terms: readonly ArticleTerms[],
  readTerms: TermReader,
): Search {
  const averageLength = terms.reduce((sum, { length }) => sum + length, 0) / (terms.length || 1);
  const postings = new Map<string, { readonly at: number; readonly weight: number }[]>();
  for (const [at, { weights, length }] of terms.entries()) {
    const saturation = K1 * (1 - B + B * length / averageLength);
    for (const [term, n] of weights) {
      const posting = { at, weight: n * (K1 + 1) / (n + saturation) };
      const others = postings.get(term);
      if (others) others.push(posting);
      else postings.set(term, [posting]);
    }
  }
  return (text) => {
    const scores = new Map<number, number>();
    for (const term of distinct(readTerms(text))) {
      const found = postings.get(term.name);
      if (!found || found.length > articles.length * MAX_DOCUMENT_SHARE) continue;
      const rarity = Math.log(1 + (articles.length - found.length + 0.5) / (found.length + 0.5));
      for (const { at, weight } of found) {
        scores.set(at, (scores.get(at) ?? 0) + weightOfKind(term) * rarity * weight);
      }
    }
    return [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, MAX_HITS)
      .map(([at, score]) => ({ article: articles[at]!, score }));
  };
}

function distinct(terms: readonly Term[]): Iterable<Term> {
  return new Map(terms.map((term) => [term.name, term])).values();
}

/** Weighs the terms of an article. Its title and the words that people use for it count most. */
export function weighTerms(article: Article, readTerms: TermReader): ArticleTerms {
  const weights = new Map<string, number>();
  let length = 0;
  const fields: readonly (readonly [number, readonly string[]])[] = [
    [3, [article.title, ...Object.values(article.words).flat()]],
    [2, [...article.symptoms, ...article.applies_to]],
    [1, [...article.causes, ...article.checks, ...article.fixes]],
  ];
  for (const [weight, texts] of fields) {
    for (const { name, kind } of texts.flatMap(readTerms)) {
      weights.set(name, (weights.get(name) ?? 0) + weight);
      if (kind === "word") length += weight;
    }
  }
  return { weights, length };
}

/** Finds the articles that a text is most likely about, by the terms they share. */
import { type Term, type TermReader, weightOfKind } from "./_terms.ts";
import type { Article } from "./training_data.ts";

/** Likeness of a text and an article or another passage. */
export interface Likeness {
  /** > 0; higher with more and rarer shared terms. Comparable within one search only. */
  readonly score: number;
  /** The score against the weight of all terms of the text, so that short and long texts can be compared. */
  readonly strength: number;
  /** Share of the title's terms that the text has, each weighed by its rarity, 0 to 1. */
  readonly titleShare: number;
}

/** An article that a search found. */
export interface SearchHit extends Likeness {
  readonly article: Article;
}

/** Finds articles, best first. */
export type Search = (text: string) => SearchHit[];

/** Compares a text with the weighted terms of a passage; undefined: they share none. */
export type Compare = (text: string, passage: PassageTerms) => Likeness | undefined;

/** The terms of a passage, weighted. */
export interface PassageTerms {
  readonly weights: ReadonlyMap<string, number>;
  /** Sum of the weights of its words. */
  readonly length: number;
  /** The terms of its title. */
  readonly title: readonly Term[];
}

const MAX_HITS = 20;
const TITLE_WEIGHT = 3;
/** A term that a larger share of the articles has says nothing about one of them. */
const MAX_DOCUMENT_SHARE = 0.25;
/** BM25: saturation of repeated terms, and penalty for long articles. @see Robertson and Zaragoza, 2009 */
const K1 = 1.2;
const B = 0.5;

/** Indexes articles, to search them and to compare other passages by the same measure (BM25 over weighted fields). */
export function createSearch(
  articles: readonly Article[],
  terms: readonly PassageTerms[],
  readTerms: TermReader,
): { readonly search: Search; readonly compare: Compare } {
  const averageLength = terms.reduce((sum, { length }) => sum + length, 0) / (terms.length || 1);
  const saturate = (n: number, length: number) =>
    n * (K1 + 1) / (n + K1 * (1 - B + B * length / averageLength));
  const postings = new Map<string, { readonly at: number; readonly weight: number }[]>();
  for (const [at, { weights, length }] of terms.entries()) {
    for (const [term, n] of weights) {
      const posting = { at, weight: saturate(n, length) };
      const others = postings.get(term);
      if (others) others.push(posting);
      else postings.set(term, [posting]);
    }
  }

  /** Returns the terms that tell something, with their weights. */
  function weigh(terms: readonly Term[]): Map<string, number> {
    const weighed = new Map<string, number>();
    for (const term of terms) {
      const found = postings.get(term.name)?.length ?? 0;
      if (found > articles.length * MAX_DOCUMENT_SHARE) continue;
      const rarity = Math.log(1 + (articles.length - found + 0.5) / (found + 0.5));
      weighed.set(term.name, weightOfKind(term) * rarity);
    }
    return weighed;
  }

  function likenessOf(
    query: ReadonlyMap<string, number>,
    title: ReadonlyMap<string, number>,
    score: number,
  ): Likeness {
    const shared = new Map([...title].filter(([term]) => query.has(term)));
    return {
      score,
      strength: score / total(query),
      titleShare: total(shared) / (total(title) || 1),
    };
  }

  const titles = terms.map(({ title }) => weigh(title));

  function search(text: string): SearchHit[] {
    const query = weigh(readTerms(text));
    const scores = new Map<number, number>();
    for (const [term, weight] of query) {
      for (const posting of postings.get(term) ?? []) {
        scores.set(posting.at, (scores.get(posting.at) ?? 0) + weight * posting.weight);
      }
    }
    return [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, MAX_HITS)
      .map(([at, score]) => ({ article: articles[at]!, ...likenessOf(query, titles[at]!, score) }));
  }

  function compare(
    text: string,
    { weights, length, title }: PassageTerms,
  ): Likeness | undefined {
    const query = weigh(readTerms(text));
    let score = 0;
    for (const [term, weight] of query) {
      score += weight * saturate(weights.get(term) ?? 0, length);
    }
    return score > 0 ? likenessOf(query, weigh(title), score) : undefined;
  }

  return { search, compare };
}

function total(weights: ReadonlyMap<string, number>): number {
  return [...weights.values()].reduce((sum, weight) => sum + weight, 0);
}

/** Weighs the terms of an article. Its title and the words that people use for it count most. */
export function weighTerms(article: Article, readTerms: TermReader): PassageTerms {
  return weighPassage(article.title, [
    [3, Object.values(article.words).flat()],
    [2, [...article.symptoms, ...article.applies_to]],
    [1, [...article.causes, ...article.checks, ...article.fixes]],
  ], readTerms);
}

/** Weighs the terms of a passage: its title most, and each group of other texts by a weight of its own. */
export function weighPassage(
  title: string,
  fields: readonly (readonly [weight: number, texts: readonly string[]])[],
  readTerms: TermReader,
): PassageTerms {
  const weights = new Map<string, number>();
  let length = 0;
  for (const [weight, texts] of [[TITLE_WEIGHT, [title]] as const, ...fields]) {
    for (const { name, kind } of texts.flatMap(readTerms)) {
      weights.set(name, (weights.get(name) ?? 0) + weight);
      if (kind === "word") length += weight;
    }
  }
  return { weights, length, title: readTerms(title) };
}

/** Finds the articles that a text is most likely about, by the terms they share. */
import { type Term, type TermReader, weightOfKind } from "./_terms.ts";
import type { Article } from "./training_data.ts";

/** How much a text has in common with an article or another passage. */
export interface Likeness {
  /** > 0; higher with more and rarer shared terms. Comparable within one search only. */
  readonly score: number;
  /** Share of the text's terms that the passage has, each weighed by its rarity, 0 to 1. */
  readonly coverage: number;
  /** Share of the score that comes from a single term, 0 to 1. */
  readonly largest: number;
}

/** An article that a search found. */
export interface SearchHit extends Likeness {
  readonly article: Article;
}

/** Finds articles, best first. */
export type Search = (text: string) => SearchHit[];

/** Compares a text with the weighted terms of a passage; undefined: they share none. */
export type Compare = (text: string, passage: ArticleTerms) => Likeness | undefined;

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

/** Indexes articles, to search them and to compare other passages by the same measure (BM25 over weighted fields). */
export function createSearch(
  articles: readonly Article[],
  terms: readonly ArticleTerms[],
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

  /** Returns the terms of a text that tell something, with their weights. */
  function weigh(text: string): Map<string, number> {
    const weighed = new Map<string, number>();
    for (const term of distinct(readTerms(text))) {
      const found = postings.get(term.name)?.length ?? 0;
      if (found > articles.length * MAX_DOCUMENT_SHARE) continue;
      const rarity = Math.log(1 + (articles.length - found + 0.5) / (found + 0.5));
      weighed.set(term.name, weightOfKind(term) * rarity);
    }
    return weighed;
  }

  function search(text: string): SearchHit[] {
    const query = weigh(text);
    const sums = new Map<number, Sum>();
    for (const [term, weight] of query) {
      for (const posting of postings.get(term) ?? []) {
        sums.set(posting.at, add(sums.get(posting.at), weight, posting.weight));
      }
    }
    const all = total(query);
    return [...sums].sort(([a, x], [b, y]) => y.score - x.score || a - b).slice(0, MAX_HITS)
      .map(([at, sum]) => ({ article: articles[at]!, ...toLikeness(sum, all) }));
  }

  function compare(text: string, { weights, length }: ArticleTerms): Likeness | undefined {
    const query = weigh(text);
    let sum: Sum | undefined;
    for (const [term, weight] of query) {
      const n = weights.get(term);
      if (n !== undefined) sum = add(sum, weight, saturate(n, length));
    }
    return sum && toLikeness(sum, total(query));
  }

  return { search, compare };
}

/** Contributions of shared terms to a score. */
interface Sum {
  score: number;
  covered: number;
  largest: number;
}

function add(
  { score, covered, largest }: Sum = { score: 0, covered: 0, largest: 0 },
  weight: number,
  saturation: number,
): Sum {
  const part = weight * saturation;
  return { score: score + part, covered: covered + weight, largest: Math.max(largest, part) };
}

function toLikeness({ score, covered, largest }: Sum, all: number): Likeness {
  return { score, coverage: covered / all, largest: largest / score };
}

function total(query: ReadonlyMap<string, number>): number {
  return [...query.values()].reduce((sum, weight) => sum + weight, 0);
}

function distinct(terms: readonly Term[]): Iterable<Term> {
  return new Map(terms.map((term) => [term.name, term])).values();
}

/** Weighs the terms of an article. Its title and the words that people use for it count most. */
export function weighTerms(article: Article, readTerms: TermReader): ArticleTerms {
  return weighFields([
    [3, [article.title, ...Object.values(article.words).flat()]],
    [2, [...article.symptoms, ...article.applies_to]],
    [1, [...article.causes, ...article.checks, ...article.fixes]],
  ], readTerms);
}

/** Weighs the terms of texts, each group of them by a weight of its own. */
export function weighFields(
  fields: readonly (readonly [weight: number, texts: readonly string[]])[],
  readTerms: TermReader,
): ArticleTerms {
  const weights = new Map<string, number>();
  let length = 0;
  for (const [weight, texts] of fields) {
    for (const { name, kind } of texts.flatMap(readTerms)) {
      weights.set(name, (weights.get(name) ?? 0) + weight);
      if (kind === "word") length += weight;
    }
  }
  return { weights, length };
}

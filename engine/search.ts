/** Finds the articles that a text is most likely to be about, by the words that they share. */
import type { Article } from "./knowledge.ts";
import { wordsOf } from "./text.ts";

/** An article that was found. */
export interface Hit {
  readonly article: Article;
  /** > 0; the more rare words it shares with the text, the higher. Comparable within one search only. */
  readonly score: number;
}

/** How much an article speaks of each stem. */
export type Terms = ReadonlyMap<string, number>;

/** Finds articles. */
export type Search = (text: string) => Hit[];

/** Letters by which words are told apart, so that endings do not matter. */
const STEM = 7;
const MAX_HITS = 20;
/** Saturation of repeated words, and how much long articles are held back. @see Robertson and Zaragoza, 2009 */
const K1 = 1.2;
const B = 0.5;

/**
 * Indexes articles for {@linkcode Search} (BM25 over weighted fields).
 *
 * @param documents what {@linkcode termsOf} says of each article, where that is known already
 */
export function searchIn(
  articles: readonly Article[],
  documents: readonly Terms[] = articles.map(termsOf),
): Search {
  const lengths = documents.map((terms) => [...terms.values()].reduce((sum, n) => sum + n, 0));
  const usual = lengths.reduce((sum, n) => sum + n, 0) / (lengths.length || 1);
  const postings = new Map<string, { readonly at: number; readonly n: number }[]>();
  for (const [at, terms] of documents.entries()) {
    for (const [term, n] of terms) {
      const list = postings.get(term);
      if (list) list.push({ at, n });
      else postings.set(term, [{ at, n }]);
    }
  }
  return (text) => {
    const scores = new Map<number, number>();
    for (const term of new Set(wordsOf(text).filter(isTerm).map(stemOf))) {
      const found = postings.get(term) ?? [];
      const rarity = Math.log(1 + (articles.length - found.length + 0.5) / (found.length + 0.5));
      for (const { at, n } of found) {
        const held = K1 * (1 - B + B * lengths[at]! / usual);
        scores.set(at, (scores.get(at) ?? 0) + rarity * n * (K1 + 1) / (n + held));
      }
    }
    return [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, MAX_HITS)
      .map(([at, score]) => ({ article: articles[at]!, score }));
  };
}

/** Words of an article by stem, with their weights. */
export function termsOf(article: Article): Terms {
  const terms = new Map<string, number>();
  const fields: readonly (readonly [number, readonly string[]])[] = [
    [3, [article.title, ...Object.values(article.words).flat()]],
    [2, [...article.symptoms, ...article.applies_to]],
    [1, [...article.causes, ...article.checks, ...article.fixes]],
  ];
  for (const [weight, texts] of fields) {
    for (const term of texts.flatMap(wordsOf).filter(isTerm).map(stemOf)) {
      terms.set(term, (terms.get(term) ?? 0) + weight);
    }
  }
  return terms;
}

function isTerm(word: string): boolean {
  return word.length > 1 && !word.startsWith("#");
}

function stemOf(word: string): string {
  return word.slice(0, STEM);
}

/** Understands a report without asking anybody: what it is about, how bad, what to do, and why that is said. */
import { join } from "node:path";
import type { Severity } from "../domain/mod.ts";
import { CATEGORIES, type Category } from "./labels.ts";
import { ROOT } from "../config.ts";
import { adviceAt } from "./answers.ts";
import { type Article, readArticles, readReports } from "./knowledge.ts";
import { keptOrMade } from "./kept.ts";
import { readWords, WORDS_IN } from "./lexicon.ts";
import { judgeBy, learnFrom, lessonsOfArticles, lessonsOfReports, readerBy } from "./model.ts";
import { type Hit, type Search, searchIn, termsOf } from "./search.ts";
import { termsBy } from "./terms.ts";

/** What is to be classified. */
export interface Report {
  /** As it was written; what goes beyond 4,000 characters is not looked at. */
  readonly description: string;
  /** Where it came from, such as `api` or the name of a monitoring system. Nothing is concluded from it. */
  readonly source: string;
}

/** An article that speaks of the fault. */
export interface Citation {
  readonly id: string;
  readonly title: string;
  readonly category: Category;
  /** > 0; comparable within one verdict only. */
  readonly score: number;
}

/** What a report was found to be. */
export interface Verdict {
  readonly category: Category;
  readonly severity: Severity;
  /** How likely the category is right, 0 to 1, two decimals. */
  readonly confidence: number;
  /** What to check first, and what mends it if that is it; with a guess, that a person has to read the report. */
  readonly recommended_action: string;
  /** Best first, up to three. */
  readonly citations: readonly Citation[];
}

/** Classifies reports, and finds articles. */
export interface Classifier {
  /** The same report always gets the same verdict. */
  classify(report: Report): Verdict;
  /** Articles that share words with a text, best first. */
  search: Search;
  /** All that ship with the product. */
  readonly articles: readonly Article[];
}

const CITED = 3;
const NOTHING_FITS =
  "Have a person read the report: no article of the knowledge base fits it well enough to act on.";

/**
 * Learns from what ships with the product, which takes some seconds of one core the first time; then it is read from a
 * file, which takes a fraction of a second, until something that it was learnt from changes.
 *
 * @param folder of `knowledge/`, `reports/`, `lexicon/`, `severity.yaml` and `thesaurus.yaml`
 * @param cache folder in which what was learnt is kept
 * @throws {z.ZodError} a file there has another shape
 */
export function openClassifier(
  folder: string = join(ROOT, "engine"),
  cache?: string,
): Promise<Classifier> {
  const sources = ["knowledge", "reports", ...WORDS_IN].map((name) => join(folder, name));
  return Promise.resolve().then(() =>
    classifierOf(keptOrMade(sources, () => learnIn(folder), cache))
  );
}

/** All that a classifier needs: what is read in files, and what is learnt from it. */
function learnIn(folder: string) {
  const articles = readArticles(join(folder, "knowledge"));
  const words = readWords(folder);
  const read = readerBy(words);
  const learnt = learnFrom([
    ...lessonsOfReports(readReports(join(folder, "reports")), read),
    ...lessonsOfArticles(articles, read),
  ]);
  const termsIn = termsBy(words);
  return { articles, terms: articles.map((it) => termsOf(it, termsIn)), words, learnt };
}

function classifierOf(
  { articles, terms, words, learnt }: ReturnType<typeof learnIn>,
): Classifier {
  const read = readerBy(words);
  const judge = judgeBy(learnt);
  const search = searchIn(articles, terms, termsBy(words));
  return {
    search,
    articles,
    classify({ description }) {
      const { categories, severity } = judge(read(description));
      const best = Math.max(...categories);
      const category = CATEGORIES[categories.indexOf(best)]!;
      const cited = cite(search(description), categories);
      return {
        category,
        severity,
        confidence: round(best),
        recommended_action: adviceAt(
          round(best),
          actionOf(cited.find(({ article }) => article.category === category)),
        ),
        citations: cited.map(({ article: { id, title, category }, score }) => ({
          id,
          title,
          category,
          score: round(score),
        })),
      };
    },
  };
}

/** The best of hits, where an article of a likely category needs fewer words in common. */
function cite(hits: readonly Hit[], categories: readonly number[]): Hit[] {
  return hits
    .map(({ article, score }) => ({
      article,
      score: score * categories[CATEGORIES.indexOf(article.category)]!,
    }))
    .filter(({ score }) => round(score) > 0)
    .sort((a, b) => b.score - a.score).slice(0, CITED);
}

function actionOf(hit: { readonly article: Article } | undefined): string {
  if (!hit) return NOTHING_FITS;
  const { checks: [check], fixes: [fix] } = hit.article;
  return `Check: ${check} If that is it: ${fix}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

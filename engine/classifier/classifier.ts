/** Classifies reports without a network: category, severity, confidence, advice and the articles it rests on. */
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import type { Severity } from "../../domain/mod.ts";
import { articleExamples, reportExamples } from "./_examples.ts";
import { createPredict, trainModel } from "./_model.ts";
import { createTextReader } from "./_reader.ts";
import { createTermReader } from "./_terms.ts";
import { readWordLists, WORD_LIST_FILES } from "./_word_lists.ts";
import { adviceAt } from "./advice.ts";
import { cache } from "./cache.ts";
import { CATEGORIES, type Category } from "./categories.ts";
import { createSearch, type Search, type SearchHit, weighTerms } from "./search.ts";
import { type Article, readArticles, readReports } from "./training_data.ts";

/** A report to classify. */
export interface Report {
  /** The original text. Only the first 4,000 characters are read. */
  readonly description: string;
  /** Its origin, such as `api` or the name of a monitoring system. It does not influence the result. */
  readonly source: string;
}

/** An article about the fault. */
export interface Citation {
  readonly id: string;
  readonly title: string;
  readonly category: Category;
  /** > 0; comparable within one classification only. */
  readonly score: number;
}

/** The result for one report. */
export interface Classification {
  readonly category: Category;
  readonly severity: Severity;
  /** Probability that the category is right, 0 to 1, two decimals. */
  readonly confidence: number;
  /** The first check and the first fix; for a guess, that a person has to read the report. */
  readonly recommended_action: string;
  /** Best first, up to three. */
  readonly citations: readonly Citation[];
}

/** Classifies reports and finds articles. */
export interface Classifier {
  /** Classifies a report. The same report always gets the same result. */
  classify(report: Report): Classification;
  /** Finds articles that share words with a text. */
  search: Search;
  /** All articles that ship with the product. */
  readonly articles: readonly Article[];
}

const MAX_CITATIONS = 3;
const NO_ARTICLE =
  "Have a person read the report: no article of the knowledge base fits it well enough to act on.";

/**
 * Opens the classifier. The first time it is trained, which takes some seconds of one core. Then the trained model is
 * read from a file, which takes a fraction of a second, until one of its sources changes.
 *
 * @param folder with `knowledge/`, `reports/` and the word lists
 * @param cacheFolder where the trained model is kept
 * @throws {z.ZodError} a file has another shape
 */
export function openClassifier(
  folder: string = join(ROOT, "engine"),
  cacheFolder?: string,
): Promise<Classifier> {
  const sources = ["knowledge", "reports", ...WORD_LIST_FILES].map((name) => join(folder, name));
  return Promise.resolve().then(() =>
    createClassifier(cache(sources, () => train(folder), cacheFolder))
  );
}

/** Returns what a classifier needs: the contents of the files, and the trained model. */
function train(folder: string) {
  const articles = readArticles(join(folder, "knowledge"));
  const lists = readWordLists(folder);
  const readText = createTextReader(lists);
  const model = trainModel([
    ...reportExamples(readReports(join(folder, "reports")), readText),
    ...articleExamples(articles, readText),
  ]);
  const readTerms = createTermReader(lists);
  return { articles, terms: articles.map((one) => weighTerms(one, readTerms)), lists, model };
}

function createClassifier(
  { articles, terms, lists, model }: ReturnType<typeof train>,
): Classifier {
  const readText = createTextReader(lists);
  const predict = createPredict(model);
  const search = createSearch(articles, terms, createTermReader(lists));
  return {
    search,
    articles,
    classify({ description }) {
      const { categories, severity } = predict(readText(description));
      const best = Math.max(...categories);
      const category = CATEGORIES[categories.indexOf(best)]!;
      const cited = selectCitations(search(description), categories);
      const action = actionOf(cited.find(({ article }) => article.category === category));
      return {
        category,
        severity,
        confidence: round(best),
        recommended_action: adviceAt(round(best), action),
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

/** Returns the best hits, where an article of a likely category needs fewer words in common. */
function selectCitations(hits: readonly SearchHit[], categories: readonly number[]): SearchHit[] {
  return hits
    .map(({ article, score }) => ({
      article,
      score: score * categories[CATEGORIES.indexOf(article.category)]!,
    }))
    .filter(({ score }) => round(score) > 0)
    .sort((a, b) => b.score - a.score).slice(0, MAX_CITATIONS);
}

function actionOf(hit: SearchHit | undefined): string {
  if (!hit) return NO_ARTICLE;
  const { checks: [check], fixes: [fix] } = hit.article;
  return `Check: ${check} If that is it: ${fix}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

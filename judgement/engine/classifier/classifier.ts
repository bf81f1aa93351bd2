/** Classifies reports without a network: category, severity, confidence, advice and the articles it rests on. */
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import type { Severity } from "../../../contract/domain/mod.ts";
import { articleExamples, reportExamples } from "./_examples.ts";
import { createPredict, RANKING_TEMPERATURE, trainModel } from "./_model.ts";
import { createTextReader } from "./_reader.ts";
import { createTermReader } from "./_terms.ts";
import { readWordLists, WORD_LIST_FILES } from "./_word_lists.ts";
import { adviceAt } from "./advice.ts";
import { cache } from "./cache.ts";
import { CATEGORIES, type Category } from "./categories.ts";
import {
  type Candidate,
  isHeldOut,
  learnRelevance,
  MIN_RELEVANCE,
  rankByRelevance,
  type RankedPassage,
  toCandidate,
} from "./relevance.ts";
import {
  createSearch,
  type PassageTerms,
  type Search,
  weighPassage,
  weighTerms,
} from "./search.ts";
import { createTreatment, type Treatment } from "./questions.ts";
import { type Article, readArticles, readJudgedReports, readReports } from "./training_data.ts";

/** A report to classify. */
interface Report {
  /** The original text. Only the first 4,000 characters are read. */
  readonly description: string;
  /** Its origin, such as `api` or the name of a monitoring system. It does not influence the result. */
  readonly source: string;
  /** The kind of the fault, where it is known: articles are chosen by it. */
  readonly known?: Category | undefined;
}

/** A passage about an earlier incident. */
interface IncidentPassage {
  readonly id: string;
  readonly title: string;
  readonly category: string;
  readonly text: string;
  /** Hash of its text. */
  readonly sha256: string;
}

/** The result for one report. */
export interface Classification {
  readonly category: Category;
  readonly severity: Severity;
  /** Probability that the category is right, 0 to 1, two decimals. */
  readonly confidence: number;
  /** The first check and the first fix of the first citation; without one, that a person has to read the report. */
  readonly recommended_action: string;
  /** Articles and incidents with the probability that each is about the fault, two decimals; best first, up to 20. */
  readonly passages: readonly RankedPassage[];
  /** The first of these, if they are likely enough; up to three. */
  readonly citations: readonly RankedPassage[];
}

/** Classifies reports and finds articles. */
export interface Classifier {
  /**
   * Classifies a report. The same report always gets the same result.
   *
   * @param incidents are ranked with the articles
   */
  classify(report: Report, incidents?: readonly IncidentPassage[]): Classification;
  /** Returns the first check and the first fix of the first article among citations; without one, that a person has to read. */
  advise(citations: readonly string[]): string;
  /** Finds articles that share words with a text. */
  readonly search: Search;
  /** Returns how much of a question a passage treats, ≥ 0. Comparable between questions. */
  readonly treat: Treatment;
  /** All articles that ship with the product. */
  readonly articles: readonly Article[];
}

const MAX_CITATIONS = 3;
const MAX_PASSAGES = 20;
/** Incidents whose terms are remembered, as reading them takes longer than all the rest. */
const MAX_REMEMBERED = 2_000;
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
  folder: string = join(ROOT, "judgement", "engine"),
  cacheFolder?: string,
): Promise<Classifier> {
  const sources = ["knowledge", "reports", "citations", ...WORD_LIST_FILES].map((name) =>
    join(folder, name)
  );
  return Promise.resolve().then(() =>
    createClassifier(cache(sources, () => train(folder), cacheFolder))
  );
}

/** Returns what a classifier needs: the contents of the files, and what was learnt from them. */
function train(folder: string) {
  const articles = readArticles(join(folder, "knowledge"));
  const lists = readWordLists(folder);
  const readText = createTextReader(lists);
  const model = trainModel([
    ...reportExamples(readReports(join(folder, "reports")), readText),
    ...articleExamples(articles, readText),
  ]);
  const readTerms = createTermReader(lists);
  const terms = articles.map((one) => weighTerms(one, readTerms));
  const predict = createPredict(model, RANKING_TEMPERATURE);
  const { search } = createSearch(articles, terms, readTerms);
  const judged = readJudgedReports(join(folder, "citations")).filter((one) => !isHeldOut(one));
  const relevance = learnRelevance(judged.map((report) => ({
    report,
    candidates: search(report.text).map(toCandidate),
    categories: predict(readText(report.text)).categories,
  })));
  return { articles, terms, lists, model, relevance };
}

function createClassifier(
  { articles, terms, lists, model, relevance }: ReturnType<typeof train>,
): Classifier {
  const readText = createTextReader(lists);
  const readTerms = createTermReader(lists);
  const predict = createPredict(model);
  const predictRanking = createPredict(model, RANKING_TEMPERATURE);
  const { search, compare } = createSearch(articles, terms, readTerms);
  const articleOf = new Map(articles.map((article) => [article.id, article]));
  const remembered = new Map<string, PassageTerms>();

  function termsOf(
    { sha256, title, text }: Pick<IncidentPassage, "sha256" | "title" | "text">,
  ): PassageTerms {
    const known = remembered.get(sha256);
    if (known) return known;
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    const weighed = weighPassage(title, [[1, [text]]], readTerms);
    remembered.set(sha256, weighed);
    return weighed;
  }

  function rank(
    { description, known }: Report,
    incidents: readonly IncidentPassage[],
    categories: readonly number[],
  ): RankedPassage[] {
    const candidates = [
      ...search(description).map(toCandidate),
      ...incidents.flatMap((incident): Candidate[] => {
        const { id, title, category } = incident;
        const likeness = compare(description, termsOf(incident));
        return likeness ? [{ id, title, category, ...likeness }] : [];
      }),
    ].sort((a, b) => b.score - a.score);
    return rankByRelevance(candidates, known ? certain(known) : categories, relevance)
      .slice(0, MAX_PASSAGES).map((one) => ({ ...one, score: round(one.score) }));
  }

  const advise = (citations: readonly string[]) =>
    actionOf(citations.map((id) => articleOf.get(id)).find((one) => one !== undefined));

  const termsOfArticle = new Map(articles.map(({ id }, at) => [id, terms[at]!]));
  const openings = [...lists.thesaurus.question ?? [], ...lists.signals.question ?? []]
    .filter((one) => !one.includes("*"));

  return {
    advise,
    search,
    treat: createTreatment(
      compare,
      (passage) => termsOfArticle.get(passage.id) ?? termsOf(passage),
      openings,
    ),
    articles,
    classify(report, incidents = []) {
      const read = readText(report.description);
      const { categories, severity } = predict(read);
      const best = Math.max(...categories);
      const confidence = round(best);
      const passages = rank(report, incidents, predictRanking(read).categories);
      const citations = passages.filter(({ score }) => score >= MIN_RELEVANCE)
        .slice(0, MAX_CITATIONS);
      return {
        category: CATEGORIES[categories.indexOf(best)]!,
        severity,
        confidence,
        recommended_action: adviceAt(confidence, advise(citations.map(({ id }) => id))),
        passages,
        citations,
      };
    },
  };
}

/** Returns the probabilities of the categories where one is known. */
function certain(known: Category): number[] {
  return CATEGORIES.map((category) => Number(category === known));
}

function actionOf(article: Article | undefined): string {
  if (!article) return NO_ARTICLE;
  const { checks: [check], fixes: [fix] } = article;
  return `Check: ${check} If that is it: ${fix}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

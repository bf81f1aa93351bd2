/** Turns reports and articles into examples to learn from. */
import type { Example } from "./_model.ts";
import type { TextReader } from "./_reader.ts";
import type { Article, LabelledReport } from "./training_data.ts";

/** Importance of a sentence of an article against a report, as articles are written in another way than reports. */
const ARTICLE_IMPORTANCE = 0.4;

/** Makes an example of each report. */
export function reportExamples(reports: readonly LabelledReport[], read: TextReader): Example[] {
  return reports.map(({ text, category, severity, importance }) => ({
    text: read(text),
    category,
    severity,
    importance: importance ?? 1,
  }));
}

/** Makes an example of each sentence of the articles about symptoms and causes. */
export function articleExamples(articles: readonly Article[], read: TextReader): Example[] {
  return articles.flatMap(({ title, symptoms, causes, words, category }) =>
    [title, ...symptoms, ...causes, ...Object.values(words).flat()]
      .map((text) => ({
        text: read(text),
        category,
        severity: undefined,
        importance: ARTICLE_IMPORTANCE,
      }))
  );
}

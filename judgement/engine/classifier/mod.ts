/**
 * The local classifier: category, severity, confidence and advice for a report, learnt from files that ship with it.
 *
 * ```ts
 * const { classify, search } = await openClassifier();
 * const { category, severity, confidence } = classify({ description, source: "api" });
 * ```
 *
 * Needs no network. The same files give the same classifications. A report's text is counted, never followed.
 * @module
 */
export { adviceAt, MIN_ADVICE_CONFIDENCE } from "./advice.ts";
export { cache } from "./cache.ts";
export { CATEGORIES, type Category } from "./categories.ts";
export { type Classification, type Classifier, openClassifier } from "./classifier.ts";
export { isHeldOut, MIN_RELEVANCE, type RankedPassage } from "./relevance.ts";
export { MIN_TREATMENT } from "./questions.ts";
export { stemsOf } from "./_text.ts";
export {
  type Article,
  type JudgedReport,
  type LabelledReport,
  readArticles,
  readJudgedReports,
  readReports,
} from "./training_data.ts";
export { createPredict, type Predict, type Prediction, TEMPERATURE, trainModel } from "./_model.ts";
export { articleExamples, reportExamples } from "./_examples.ts";
export { findLonePhrases } from "./_lexicon.ts";
export { createTextReader } from "./_reader.ts";
export { readWordLists } from "./_word_lists.ts";

/**
 * Prints how well the classifier does: in cross-validation on the reports it learns from, and on held-out reports.
 *
 *     npm run eval -- reports          both
 *     npm run eval -- reports cross    cross-validation only
 */
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { evaluationTables, logLoss, type Outcome } from "./_eval_tables.ts";
import {
  articleExamples,
  createPredict,
  createTextReader,
  findLonePhrases,
  type LabelledReport,
  openClassifier,
  type Predict,
  readArticles,
  readReports,
  readWordLists,
  reportExamples,
  TEMPERATURE,
  trainModel,
} from "../../judgement/engine/classifier/mod.ts";

const FOLDS = 5;
const folder = join(ROOT, "judgement", "engine");
const readText = createTextReader(readWordLists(folder));
const articles = articleExamples(readArticles(join(folder, "knowledge")), readText);
const reports = readReports(join(folder, "reports"));
const examples = reportExamples(reports, readText);
const lonePhrases = findLonePhrases([...examples, ...articles].map(({ text }) => text.phrases));

crossValidate();
if (!process.argv.includes("cross")) {
  const model = trainModel([...examples, ...articles]);
  const predict = createPredict(model);
  const heldOut = (...path: string[]) =>
    readReports(join(ROOT, "evals", "reports", "held_out", ...path));
  const publicReports = (part: string) =>
    readReports(join(ROOT, "evals", "reports", "public", part));
  const calibration = publicReports("calibration");
  await evaluate("Public first reports, calibration", predict, calibration);
  const uncalibrated = createPredict(model, 1);
  printBestTemperature(calibration.map((report) => ({
    report,
    prediction: uncalibrated(readText(report.text)),
  })));
  await evaluate("Public first reports, held out", predict, publicReports("held_out"));
  await evaluate("Public first reports, second set", predict, publicReports("second"));
  await evaluate("Held out", predict, heldOut());
  await evaluate("Held out, second set", predict, heldOut("second"));
  await evaluate("Held out, third set", predict, heldOut("third"));
  await evaluate("Held out, first reports of incidents", predict, heldOut("symptoms"));
  await evaluate("Held out, causes of incidents", predict, heldOut("causes"));
}

/**
 * Predicts each fifth of the reports from the other four. Phrases of the lexicon that a single report has are left out, as
 * some were written for it.
 */
function crossValidate(): void {
  const outcomes = Array.from({ length: FOLDS }, (_, fold) => {
    const model = trainModel([...examples.filter((_, n) => n % FOLDS !== fold), ...articles]);
    const predict = createPredict(model, 1);
    return examples.flatMap(({ text }, n): Outcome[] =>
      n % FOLDS === fold ? [{ report: reports[n]!, prediction: predict(text, lonePhrases) }] : []
    );
  }).flat();
  console.log(`## Cross-validation on ${reports.length} reports\n`);
  console.log(evaluationTables(outcomes.map((outcome) => atTemperature(outcome, TEMPERATURE))));
  printBestTemperature(outcomes);
}

/** Prints the temperature with the lowest log loss. @param outcomes of temperature 1 */
function printBestTemperature(outcomes: readonly Outcome[]): void {
  const temperatures = Array.from({ length: 40 }, (_, n) => 0.1 + n / 50);
  const losses = temperatures.map((one) => logLoss(outcomes.map((it) => atTemperature(it, one))));
  const best = temperatures[losses.indexOf(Math.min(...losses))]!;
  console.log(
    `\nLowest log loss at temperature ${best.toFixed(2)}; the engine has ${TEMPERATURE}.\n`,
  );
}

/** Returns the outcome with the probabilities of another temperature than 1. */
function atTemperature({ report, prediction }: Outcome, temperature: number): Outcome {
  const raised = prediction.categories.map((one) => one ** (1 / temperature));
  const total = raised.reduce((sum, one) => sum + one, 0);
  return { report, prediction: { ...prediction, categories: raised.map((one) => one / total) } };
}

/** Prints the results of the whole classifier on reports it has not seen, and its time. */
async function evaluate(
  title: string,
  predict: Predict,
  reports: readonly LabelledReport[],
): Promise<void> {
  await openClassifier(); // so that the cache is warm
  const opening = process.cpuUsage();
  const { classify } = await openClassifier();
  const { user, system } = process.cpuUsage(opening);
  const outcomes = reports.map((report) => ({
    report,
    prediction: predict(readText(report.text)),
  }));
  const times = reports.map(({ text }) => {
    const started = performance.now();
    classify({ description: text, source: "eval" });
    return performance.now() - started;
  }).sort((a, b) => a - b);
  console.log(`## ${title}: ${reports.length} reports\n`);
  console.log(evaluationTables(outcomes));
  const at = (part: number) => times[Math.floor(part * (times.length - 1))]!.toFixed(1);
  console.log(`\nTime a report: median ${at(0.5)} ms, p99 ${at(0.99)} ms.`);
  console.log(`Opening: ${((user + system) / 1000).toFixed(0)} ms of one core.\n`);
}

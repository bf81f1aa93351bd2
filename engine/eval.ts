/**
 * Says how well the classifier does: by cross-validation on the reports that it learns from, and on reports held back
 * from all learning. `npm run eval`
 *
 *     npm run eval              both
 *     npm run eval -- cross     cross-validation only
 */
import { join } from "node:path";
import { ROOT } from "../config.ts";
import { openClassifier } from "./classifier.ts";
import { logLoss, type Outcome, tablesOf } from "./figures.ts";
import { type LabelledReport, readArticles, readReports } from "./knowledge.ts";
import { lonePhrases, readWords } from "./lexicon.ts";
import {
  HEAT,
  type Judge,
  judgeFrom,
  lessonsOfArticles,
  lessonsOfReports,
  readerBy,
} from "./model.ts";

const FOLDS = 5;
const folder = join(ROOT, "engine");
const read = readerBy(readWords(folder));
const articles = lessonsOfArticles(readArticles(join(folder, "knowledge")), read);
const reports = readReports(join(folder, "reports"));
const lessons = lessonsOfReports(reports, read);
const lone = lonePhrases([...lessons, ...articles].map(({ reading }) => reading.phrases));

crossValidate();
if (!process.argv.includes("cross")) {
  const judge = judgeFrom([...lessons, ...articles]);
  await holdAgainst("Held out", judge, readReports(join(folder, "held_out")));
  await holdAgainst("Held out, second set", judge, readReports(join(folder, "held_out", "second")));
  await holdAgainst("Held out, third set", judge, readReports(join(folder, "held_out", "third")));
}

/**
 * Each fifth of the reports is judged by what was learnt from the other four; phrases of the lexicon that a single
 * report has are passed over, as some were written for it.
 */
function crossValidate(): void {
  const judged = Array.from({ length: FOLDS }, (_, fold) => {
    const judge = judgeFrom(
      [...lessons.filter((_, n) => n % FOLDS !== fold), ...articles],
      1,
    );
    return lessons.flatMap(({ reading }, n): Outcome[] =>
      n % FOLDS === fold ? [{ report: reports[n]!, judgement: judge(reading, lone) }] : []
    );
  }).flat();
  const heats = Array.from({ length: 40 }, (_, n) => 0.1 + n / 50);
  const losses = heats.map((heat) => logLoss(judged.map((outcome) => atHeat(outcome, heat))));
  const best = heats[losses.indexOf(Math.min(...losses))]!;
  console.log(`## Cross-validation on ${reports.length} reports\n`);
  console.log(tablesOf(judged.map((outcome) => atHeat(outcome, HEAT))));
  console.log(`\nLowest log loss at heat ${best.toFixed(2)}; the engine has ${HEAT}.\n`);
}

/** The same outcome with chances made at another heat than 1. */
function atHeat({ report, judgement }: Outcome, heat: number): Outcome {
  const raised = judgement.categories.map((chance) => chance ** (1 / heat));
  const total = raised.reduce((sum, one) => sum + one, 0);
  return { report, judgement: { ...judgement, categories: raised.map((one) => one / total) } };
}

/** What the whole classifier makes of reports that it has not seen, and how long that takes. */
async function holdAgainst(
  title: string,
  judge: Judge,
  held: readonly LabelledReport[],
): Promise<void> {
  await openClassifier(); // so that what was learnt is kept
  const opening = process.cpuUsage();
  const { classify } = await openClassifier();
  const { user, system } = process.cpuUsage(opening);
  const outcomes = held.map((report) => ({ report, judgement: judge(read(report.text)) }));
  const times = held.map(({ text }) => {
    const started = performance.now();
    classify({ description: text, source: "eval" });
    return performance.now() - started;
  }).sort((a, b) => a - b);
  console.log(`## ${title}: ${held.length} reports\n`);
  console.log(tablesOf(outcomes));
  const at = (part: number) => times[Math.floor(part * (times.length - 1))]!.toFixed(1);
  console.log(`\nTime a report: median ${at(0.5)} ms, p99 ${at(0.99)} ms.`);
  console.log(`Opening: ${((user + system) / 1000).toFixed(0)} ms of one core.\n`);
}

/**
 * Prints how well articles are cited, by reports for which a person has judged the articles. The weights are learnt from
 * about half of them; the others, by the hash of their text, are held out.
 *
 *     npm run eval -- citations            totals
 *     npm run eval -- citations details    and each wrong first citation of those that are learnt from
 */
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import {
  type Classification,
  isHeldOut,
  type JudgedReport,
  MIN_RELEVANCE,
  openClassifier,
  readJudgedReports,
} from "../../judgement/engine/classifier/mod.ts";

interface Outcome {
  readonly report: JudgedReport;
  readonly passages: Classification["passages"];
}

const MAX_PASSAGES = 5;

const { classify } = await openClassifier();
const outcomes = readJudgedReports(join(ROOT, "judgement", "engine", "citations")).map((
  report,
): Outcome => ({
  report,
  passages: classify({ description: report.text, source: "eval" }).passages,
}));
const learnt = outcomes.filter(({ report }) => !isHeldOut(report));
const heldOut = outcomes.filter(({ report }) => isHeldOut(report));

console.log("## Citations\n");
console.log(
  "| reports | with an article about the fault | cited | first citation right | first passage right |",
);
console.log("| --- | --: | --: | --: | --: |");
printShares("learnt from", learnt);
printShares("held out", heldOut);
for (const [name, some] of [["learnt from", learnt], ["held out", heldOut]] as const) {
  console.log(`\n| score, ${name} | passages | mean score | about the fault |`);
  console.log("| --- | --: | --: | --: |");
  printReliability(some);
}
if (process.argv.includes("details")) learnt.forEach(printWrong);

function isCited({ passages: [first] }: Outcome): boolean {
  return first !== undefined && first.score >= MIN_RELEVANCE;
}

function isFirstRight({ report, passages: [first] }: Outcome): boolean {
  return first !== undefined && report.about.includes(first.id);
}

function printShares(name: string, some: readonly Outcome[]): void {
  const cited = some.filter(isCited);
  const right = cited.filter(isFirstRight).length;
  const known = some.filter(({ report }) => report.about.length > 0);
  const share = (100 * right / cited.length).toFixed(1);
  console.log(
    `| ${some.length} ${name} | ${known.length} | ${cited.length} | ${right} (${share} %) | ` +
      `${known.filter(isFirstRight).length} of ${known.length} |`,
  );
}

/** Compares scores with the share of passages that are about the fault, in bins of the score. */
function printReliability(some: readonly Outcome[]): void {
  const pairs = some.flatMap(({ report, passages }) =>
    passages.slice(0, MAX_PASSAGES)
      .map(({ id, score }) => ({ score, isAbout: report.about.includes(id) }))
  );
  for (let bin = 0; bin < 5; bin++) {
    const within = pairs.filter(({ score }) => Math.min(4, Math.floor(score * 5)) === bin);
    if (within.length === 0) continue;
    const mean = within.reduce((sum, { score }) => sum + score, 0) / within.length;
    const about = within.filter(({ isAbout }) => isAbout).length / within.length;
    console.log(
      `| ${bin / 5}–${(bin + 1) / 5} | ${within.length} | ${mean.toFixed(2)} | ${
        (100 * about).toFixed(0)
      } % |`,
    );
  }
}

function printWrong(outcome: Outcome): void {
  if (!isCited(outcome) || isFirstRight(outcome)) return;
  const { report, passages: [first] } = outcome;
  const text = report.text.slice(0, 160).replaceAll("\n", " ");
  console.log(`\ncited ${first!.id} ${first!.score}, right ${report.about.join(", ")}: ${text}`);
}

/**
 * Prints how well questions that the knowledge base treats are told from others. The bound is chosen by the questions of
 * `calibration.jsonl` alone; those of `held_out.jsonl` are only measured.
 *
 *     npm run eval -- questions            totals
 *     npm run eval -- questions details    and each question of the calibration that is judged wrongly
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { MIN_TREATMENT, openClassifier } from "../../judgement/engine/classifier/mod.ts";

/** A question, and the articles that answer it; empty: none does. */
interface Question {
  readonly text: string;
  readonly about: readonly string[];
}

interface Outcome {
  readonly question: Question;
  /** Articles, those that treat most of it first. */
  readonly found: readonly { readonly id: string; readonly treatment: number }[];
}

const MAX_FOUND = 5;
const BOUNDS = [0, 2, 4, 6, MIN_TREATMENT, 9, 12, 16, 24];

const { treat, search } = await openClassifier();
const [calibration, heldOut] = ["calibration", "held_out"].map(readOutcomes);

console.log("## Questions to the knowledge base\n");
console.log(
  "| bound | questions | answered of those with an answer | right article among them | answered of those without one |",
);
console.log("| --: | --- | --: | --: | --: |");
for (const bound of BOUNDS) printBound(bound, "calibration", calibration!);
printBound(MIN_TREATMENT, "held out", heldOut!);
if (process.argv.includes("details")) calibration!.forEach(printWrong);

function readOutcomes(name: string): Outcome[] {
  const lines = readFileSync(join(ROOT, "evals", "questions", `${name}.jsonl`), "utf8");
  return lines.trim().split("\n").map((line): Outcome => {
    const question: Question = JSON.parse(line);
    const found = search(question.text).slice(0, MAX_FOUND).map(({ article: { id, title } }) => ({
      id,
      treatment: treat(question.text, { id, title, text: "", sha256: "" }),
    }));
    return { question, found: found.sort((a, b) => b.treatment - a.treatment) };
  });
}

function printBound(bound: number, name: string, outcomes: readonly Outcome[]): void {
  const known = outcomes.filter(({ question }) => question.about.length > 0);
  const unknown = outcomes.filter(({ question }) => question.about.length === 0);
  const answered = (some: readonly Outcome[]) =>
    some.filter(({ found }) => found.some(({ treatment }) => treatment >= bound));
  const right = answered(known).filter(({ found, question }) =>
    found.some(({ id, treatment }) => treatment >= bound && question.about.includes(id))
  );
  const isUsed = bound === MIN_TREATMENT ? `**${bound}**` : bound;
  console.log(
    `| ${isUsed} | ${name} | ${answered(known).length} of ${known.length} | ${right.length} | ` +
      `${answered(unknown).length} of ${unknown.length} |`,
  );
}

function printWrong({ question, found: [first] }: Outcome): void {
  const isAnswered = (first?.treatment ?? 0) >= MIN_TREATMENT;
  if (isAnswered === question.about.length > 0) return;
  console.log(`\n${first?.treatment ?? 0} ${first?.id ?? "nothing"}: ${question.text}`);
}

/** Tables in Markdown that compare predictions with the right answers. */
import { SEVERITIES } from "../../contract/domain/mod.ts";
import {
  CATEGORIES,
  type LabelledReport,
  type Prediction,
} from "../../judgement/engine/classifier/mod.ts";

/** A report and the prediction for it. */
export interface Outcome {
  readonly report: LabelledReport;
  readonly prediction: Prediction;
}

const MAX_CONFUSIONS = 12;
/** From this confidence on an answer counts as sure, rounded as the classifier rounds it. */
const SURE = 0.9;

/** Returns the likeliest category, and its probability. */
function likeliest({ categories }: Prediction) {
  const highest = Math.max(...categories);
  const confidence = Math.round(highest * 100) / 100;
  return { category: CATEGORIES[categories.indexOf(highest)]!, confidence };
}

function hasRightCategory({ report, prediction }: Outcome): boolean {
  return likeliest(prediction).category === report.category;
}

function hasExactSeverity({ report, prediction }: Outcome): boolean {
  return prediction.severity === report.severity;
}

/** Returns by how many steps the predicted severity is too high; below 0: too low. */
function severityError({ report, prediction }: Outcome): number {
  return SEVERITIES.indexOf(prediction.severity) - SEVERITIES.indexOf(report.severity);
}

function hasNearSeverity(outcome: Outcome): boolean {
  return Math.abs(severityError(outcome)) <= 1;
}

/** Returns the share of outcomes for which something holds, such as `84.2 %`. */
function share(outcomes: readonly Outcome[], holds: (outcome: Outcome) => boolean): string {
  return `${(100 * outcomes.filter(holds).length / outcomes.length).toFixed(1)} %`;
}

/** Groups outcomes by a key, in the order in which keys first occur. */
function groupBy<K>(
  outcomes: readonly Outcome[],
  keyOf: (outcome: Outcome) => K,
): Map<K, Outcome[]> {
  const groups = new Map<K, Outcome[]>();
  for (const outcome of outcomes) {
    const key = keyOf(outcome);
    groups.set(key, [...groups.get(key) ?? [], outcome]);
  }
  return groups;
}

/** Returns what decides whether the answers can be acted on, in one line each. */
function summary(outcomes: readonly Outcome[]): string {
  const sure = outcomes.filter(({ prediction }) => likeliest(prediction).confidence >= SURE);
  const count = (holds: (error: number) => boolean) =>
    outcomes.filter((outcome) => holds(severityError(outcome))).length;
  return [
    `Category right: ${share(outcomes, hasRightCategory)} of ${outcomes.length}.`,
    `Right at a confidence of ${SURE} or more: ${share(sure, hasRightCategory)} of ${sure.length}.`,
    `Severity exact: ${share(outcomes, hasExactSeverity)}; ` +
    `too low: ${count((error) => error < 0)}, too high: ${count((error) => error > 0)}.`,
  ].join("\n");
}

/** Returns all tables: shares that are right, confusions of categories and severities, and how reliable confidence is. */
export function evaluationTables(outcomes: readonly Outcome[]): string {
  return [
    summary(outcomes),
    rightTable(outcomes),
    confusionTable(outcomes),
    severityTable(outcomes),
    reliabilityTable(outcomes),
  ].join("\n\n");
}

function rightTable(outcomes: readonly Outcome[]): string {
  const row = (name: string, some: readonly Outcome[]) => [
    name,
    String(some.length),
    share(some, hasRightCategory),
    share(some, hasExactSeverity),
    share(some, hasNearSeverity),
  ];
  return table(["", "reports", "category right", "severity exact", "within one step"], [
    row("all", outcomes),
    ...(["category", "language", "voice"] as const).flatMap((key) =>
      [...groupBy(outcomes, ({ report }) => report[key])].map(([name, some]) => row(name, some))
    ),
  ]);
}

function confusionTable(outcomes: readonly Outcome[]): string {
  const wrong = groupBy(
    outcomes.filter((outcome) => !hasRightCategory(outcome)),
    ({ report, prediction }) => `${report.category} | ${likeliest(prediction).category}`,
  );
  const rows = [...wrong].map(([pair, some]) => [...pair.split(" | "), some.length] as const)
    .sort(([, , a], [, , b]) => Number(b) - Number(a)).slice(0, MAX_CONFUSIONS);
  return table(["is", "was taken for", "reports"], rows.map((row) => row.map(String)));
}

function severityTable(outcomes: readonly Outcome[]): string {
  const count = (right: string, predicted: string) =>
    outcomes.filter(({ report, prediction }) =>
      report.severity === right && prediction.severity === predicted
    ).length;
  return table(
    ["is \\ was taken for", ...SEVERITIES],
    SEVERITIES.map((right) => [
      right,
      ...SEVERITIES.map((predicted) => String(count(right, predicted))),
    ]),
  );
}

/** Compares confidence with the share that is right, in bins of confidence. */
function reliabilityTable(outcomes: readonly Outcome[]): string {
  const bins = groupBy(
    outcomes,
    ({ prediction }) => Math.min(Math.floor(likeliest(prediction).confidence * 10), 9),
  );
  let apart = 0;
  const rows = [...bins].sort(([a], [b]) => a - b).map(([bin, some]) => {
    const confidence = some.reduce((sum, one) => sum + likeliest(one.prediction).confidence, 0) /
      some.length;
    const right = some.filter(hasRightCategory).length / some.length;
    apart += Math.abs(confidence - right) * some.length / outcomes.length;
    return [
      `${bin / 10}–${(bin + 1) / 10}`,
      String(some.length),
      `${(100 * confidence).toFixed(0)} %`,
      `${(100 * right).toFixed(0)} %`,
    ];
  });
  return `${table(["confidence", "reports", "mean confidence", "right"], rows)}\n\n` +
    `Confidence and share right lie ${(100 * apart).toFixed(1)} points apart on average.`;
}

/** Returns the mean of −ln of the probability that the right category was given. */
export function logLoss(outcomes: readonly Outcome[]): number {
  return outcomes.reduce(
    (sum, { report, prediction }) =>
      sum - Math.log(Math.max(prediction.categories[CATEGORIES.indexOf(report.category)]!, 1e-9)),
    0,
  ) / outcomes.length;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, n) => n === 0 ? "---" : "--:")), ...rows.map(line)].join(
    "\n",
  );
}

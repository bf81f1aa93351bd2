/** How well verdicts fit what reports turned out to be, as tables in Markdown. */
import { SEVERITIES } from "../domain/mod.ts";
import type { LabelledReport } from "./knowledge.ts";
import { CATEGORIES } from "./labels.ts";
import type { Judgement } from "./model.ts";

/** A report and what was made of it. */
export interface Outcome {
  readonly report: LabelledReport;
  readonly judgement: Judgement;
}

/** The category with the best chance, and that chance. */
function firstOf({ categories }: Judgement) {
  const chance = Math.max(...categories);
  return { category: CATEGORIES[categories.indexOf(chance)]!, chance };
}

const isRight = ({ report, judgement }: Outcome) => firstOf(judgement).category === report.category;
const isExact = ({ report, judgement }: Outcome) => judgement.severity === report.severity;
const isNear = ({ report, judgement }: Outcome) =>
  Math.abs(SEVERITIES.indexOf(judgement.severity) - SEVERITIES.indexOf(report.severity)) <= 1;

/** Share of outcomes of which something holds, such as `84.2 %`. */
function share(outcomes: readonly Outcome[], holds: (outcome: Outcome) => boolean): string {
  return `${(100 * outcomes.filter(holds).length / outcomes.length).toFixed(1)} %`;
}

/** Outcomes by what a function says of them, in the order in which it first says so. */
function groups<K>(
  outcomes: readonly Outcome[],
  keyOf: (outcome: Outcome) => K,
): Map<K, Outcome[]> {
  const found = new Map<K, Outcome[]>();
  for (const outcome of outcomes) {
    const key = keyOf(outcome);
    found.set(key, [...found.get(key) ?? [], outcome]);
  }
  return found;
}

/** All tables: the whole, by category, language and voice, what is mistaken for what, and how far confidence holds. */
export function tablesOf(outcomes: readonly Outcome[]): string {
  return [
    rightness(outcomes),
    confusions(outcomes),
    severities(outcomes),
    reliability(outcomes),
  ].join("\n\n");
}

function rightness(outcomes: readonly Outcome[]): string {
  const row = (name: string, some: readonly Outcome[]) => [
    name,
    String(some.length),
    share(some, isRight),
    share(some, isExact),
    share(some, isNear),
  ];
  return table(["", "reports", "category right", "severity exact", "within one step"], [
    row("all", outcomes),
    ...(["category", "language", "voice"] as const).flatMap((key) =>
      [...groups(outcomes, ({ report }) => report[key])].map(([name, some]) => row(name, some))
    ),
  ]);
}

function confusions(outcomes: readonly Outcome[]): string {
  const wrong = groups(
    outcomes.filter((outcome) => !isRight(outcome)),
    ({ report, judgement }) => `${report.category} | ${firstOf(judgement).category}`,
  );
  const most = [...wrong].map(([pair, some]) => [...pair.split(" | "), some.length] as const)
    .sort(([, , a], [, , b]) => Number(b) - Number(a)).slice(0, 12);
  return table(["is", "was taken for", "reports"], most.map((row) => row.map(String)));
}

function severities(outcomes: readonly Outcome[]): string {
  return table(
    ["is \\ was taken for", ...SEVERITIES],
    SEVERITIES.map((is) => [
      is,
      ...SEVERITIES.map((taken) =>
        String(
          outcomes.filter(({ report, judgement }) =>
            report.severity === is && judgement.severity === taken
          ).length,
        )
      ),
    ]),
  );
}

/** Of verdicts with about the same confidence, the share that is right; and how far the two lie apart on average. */
function reliability(outcomes: readonly Outcome[]): string {
  const bins = groups(
    outcomes,
    ({ judgement }) => Math.min(Math.floor(firstOf(judgement).chance * 10), 9),
  );
  let apart = 0;
  const rows = [...bins].sort(([a], [b]) => a - b).map(([bin, some]) => {
    const claimed = some.reduce((sum, one) => sum + firstOf(one.judgement).chance, 0) / some.length;
    const right = some.filter(isRight).length / some.length;
    apart += Math.abs(claimed - right) * some.length / outcomes.length;
    return [
      `${bin / 10}–${(bin + 1) / 10}`,
      String(some.length),
      `${(100 * claimed).toFixed(0)} %`,
      `${(100 * right).toFixed(0)} %`,
    ];
  });
  return `${table(["confidence", "reports", "mean confidence", "right"], rows)}\n\n` +
    `Confidence and share right lie ${(100 * apart).toFixed(1)} points apart on average.`;
}

/** Average of −ln of the chance that the right category was given. */
export function logLoss(outcomes: readonly Outcome[]): number {
  return outcomes.reduce(
    (sum, { report, judgement }) =>
      sum - Math.log(Math.max(judgement.categories[CATEGORIES.indexOf(report.category)]!, 1e-9)),
    0,
  ) / outcomes.length;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, n) => n === 0 ? "---" : "--:")), ...rows.map(line)].join(
    "\n",
  );
}

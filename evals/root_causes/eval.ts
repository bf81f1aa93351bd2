/**
 * Prints how often grouping finds the root of a fault that others suffer from, measured on the public data set PetShop
 * (https://github.com/amazon-science/petshop-root-cause-analysis) where it lies beside the project.
 *
 *     npm run eval -- root_causes            totals
 *     npm run eval -- root_causes details    and each wrong root of the issues for training
 *
 * Every unusual latency and every unusual number of failed requests is a finding. The answer is the root of the group with
 * the finding that people noticed. Constants are chosen on the issues for training; the others are only counted.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import {
  type Groupable,
  groupFindings,
  isUnusual,
  measureDeviation,
} from "../../judgement/detection/mod.ts";
import { type Issue, readPetshop, type Sample, type Traffic } from "./_petshop.ts";

/** An issue with what was answered. */
interface Answer extends Issue {
  readonly scenario: string;
  readonly answer: string | undefined;
}

type Kind = "latency" | "errors";

const FOLDER = join(ROOT, "..", "shared", "data", "petshop");
/** With fewer windows in the past, it is not known what is usual. */
const MIN_PAST = 20;
const KINDS: readonly Kind[] = ["latency", "errors"];
const KIND_OF = { latency: "latency", availability: "errors" } as const;

console.log("## Root causes: the root is right (top 1)\n");
if (existsSync(FOLDER)) print(readPetshop(FOLDER).flatMap(answerAll));
else console.log(`Skipped: PetShop is not there; put a copy into ${FOLDER}`);

function answerAll(traffic: Traffic): Answer[] {
  return traffic.issues.map((issue) => ({
    ...issue,
    scenario: `${traffic.name} ${issue.noticed.metric}`,
    answer: findRoot(issue, traffic),
  }));
}

/** Returns the root of the group that holds what people noticed. */
function findRoot(issue: Issue, { past, dependencies }: Traffic): string | undefined {
  const { metrics: { times, samples }, noticed } = issue;
  const distance = (i: number) => Math.abs(times[i]! - noticed.time);
  const window = [...times.keys()].reduce((best, i) => distance(i) < distance(best) ? i : best);
  const isNoticed = ({ service, fingerprint }: Groupable) =>
    service === noticed.component && fingerprint.endsWith(KIND_OF[noticed.metric]);
  const findings = [...samples].flatMap(([component, now]) =>
    KINDS.flatMap((kind) =>
      createFinding(component, kind, now[window]!, past.samples.get(component) ?? []) ?? []
    )
  ).filter((finding) => isNoticed(finding) || isUnusual(finding.deviation!));
  return groupFindings(findings, dependencies)
    .find(({ root, others }) => [root, ...others].some(isNoticed))?.root.service ?? undefined;
}

/** Returns undefined where there is no value, or too little of the past. */
function createFinding(
  service: string,
  kind: Kind,
  now: Sample,
  past: readonly Sample[],
): Groupable | undefined {
  const value = valueOf(now, kind);
  const values = past.flatMap((sample) => valueOf(sample, kind) ?? []);
  if (value === undefined || values.length < MIN_PAST) return undefined;
  const { median, deviation: spread } = summarize(values);
  return {
    service,
    detector: "service_probes",
    code: kind === "latency" ? "slow" : "error_rate",
    fingerprint: `${service} ${kind}`,
    severity: "medium",
    host: null,
    deviation: measureDeviation({ kind, value, usual: median, spread, requests: now.requests! }),
  };
}

/** Returns seconds of a request, or the number of failed requests. */
function valueOf({ latency, requests, availability }: Sample, kind: Kind): number | undefined {
  if (requests === null) return undefined;
  if (kind === "latency") return latency ?? undefined;
  return availability === null ? undefined : requests * (100 - availability) / 100;
}

function summarize(values: readonly number[]): { median: number; deviation: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    median: (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2,
    deviation: Math.sqrt(squares / values.length),
  };
}

function print(answers: readonly Answer[]): void {
  console.log("| scenario | train | test | all |\n| --- | --: | --: | --: |");
  const cell = (some: readonly Answer[]) => `${some.filter(isRight).length} of ${some.length}`;
  const row = (name: string, some: readonly Answer[]) => {
    const [train, test] = (["train", "test"] as const).map((wanted) =>
      cell(some.filter(({ split }) => split === wanted))
    );
    console.log(`| ${name} | ${train} | ${test} | ${cell(some)} |`);
  };
  for (const scenario of new Set(answers.map(({ scenario }) => scenario))) {
    row(scenario, answers.filter((one) => one.scenario === scenario));
  }
  row("**all**", answers);
  if (!process.argv.includes("details")) return;
  for (const one of answers) {
    if (one.split === "test" || isRight(one)) continue;
    console.log(`wrong: ${one.scenario}: ${one.answer}, not ${one.root}`);
  }
}

function isRight({ answer, root }: Answer): boolean {
  return answer === root;
}

/**
 * Prints how well findings are judged: services of every declared type with every code of a probe, and lines of logs, which
 * the engine reads. About half of the logs are held out, by the hash of their lines: nothing was chosen for their results.
 *
 *     npm run eval -- findings            totals
 *     npm run eval -- findings details    and each wrong judgement but those of the held-out logs
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../config.ts";
import type { Category, FindingCheck } from "../../contract/domain/mod.ts";
import { openClassifier } from "../../judgement/engine/mod.ts";
import type { HealthCheck } from "../../integrations/host/mod.ts";
import { decidingReading, judgeFault } from "../../judgement/detection/mod.ts";

/** Accepted judgements of probes, as in their file. */
interface Probes {
  readonly types: Readonly<Record<string, readonly Category[]>>;
  readonly codes: readonly {
    readonly check: FindingCheck;
    readonly code: string;
    readonly says: string;
    readonly categories?: readonly Category[];
  }[];
}

interface LogCase {
  readonly lines: readonly string[];
  readonly category: Category;
}

/** A judgement beside those that are accepted. */
interface Result {
  readonly subject: string;
  readonly category: Category;
  readonly confidence: number;
  readonly isRight: boolean;
}

const FOLDER = join(ROOT, "evals", "detection", "cases");
const CHECKS: Readonly<Record<string, HealthCheck>> = {
  http: { http: "http://127.0.0.1:9000/health" },
  tcp: { tcp: "127.0.0.1:9000" },
  command: { command: ["/usr/local/bin/check-it"] },
};

const { classify } = await openClassifier();
const details = process.argv.includes("details");
const logs = readFileSync(join(FOLDER, "logs.jsonl"), "utf8").trim().split("\n")
  .map((line) => JSON.parse(line) as LogCase);

console.log("## Findings\n");
console.log("| | cases | right | mean confidence | other | dependency |");
console.log("| --- | --: | --: | --: | --: | --: |");
print("probes, every type and code", judgeProbes());
print("lines of logs", logs.filter((one) => !isHeldOut(one)).map(judgeLog));
print("lines of logs, held out", logs.filter(isHeldOut).map(judgeLog), false);

function judgeProbes(): Result[] {
  const { types, codes } = parse(readFileSync(join(FOLDER, "probes.yaml"), "utf8")) as Probes;
  return Object.entries(types).flatMap(([type, usual]) =>
    codes.map(({ check, code, says: wanted, categories = usual }): Result => {
      const service = { name: `the ${type}`, type, check: CHECKS[check]! };
      const fault = { check, code, service, record: undefined, failing: [] };
      const { category, confidence, says } = judgeFault(fault);
      return {
        subject: `${type} ${check} ${code}: ${says}`,
        category,
        confidence,
        isRight: categories.includes(category) && String(says).includes(wanted),
      };
    })
  );
}

/** Judges a log of no known service. Lines that do not tell are to be given no category. */
function judgeLog({ lines, category: right }: LogCase): Result {
  const measured = judgeFault({
    check: "log",
    code: "error_rate",
    service: undefined,
    record: undefined,
    failing: [],
  });
  const reading = classify({ description: lines.join("\n"), source: "log" });
  const { category, confidence } = decidingReading(measured, reading) ?? measured;
  return { subject: lines[0]!.slice(0, 120), category, confidence, isRight: category === right };
}

function isHeldOut({ lines }: LogCase): boolean {
  return createHash("sha256").update(lines.join("\n")).digest()[0]! % 2 === 1;
}

function print(name: string, results: readonly Result[], mayShow = true): void {
  const share = (some: readonly Result[]) => `${(100 * some.length / results.length).toFixed(1)} %`;
  const mean = results.reduce((sum, { confidence }) => sum + confidence, 0) / results.length;
  const of = (wanted: Category) => results.filter(({ category }) => category === wanted).length;
  const right = share(results.filter(({ isRight }) => isRight));
  console.log(
    `| ${name} | ${results.length} | ${right} | ${mean.toFixed(2)} | ${of("other")} | ${
      of("dependency")
    } |`,
  );
  if (!details || !mayShow) return;
  for (const { subject, category, confidence, isRight } of results) {
    if (!isRight) console.log(`wrong: ${category} ${confidence.toFixed(2)}: ${subject}`);
  }
}

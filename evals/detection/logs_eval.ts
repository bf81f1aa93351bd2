/**
 * Prints how well kinds of lines are told apart: the grouping accuracy on raw lines, that is the share of lines whose group
 * holds all lines of their kind and no other.
 *
 *     npm run eval -- logs
 *
 * The logs are written from the formats in `log_systems/`. Every third system is held out: of these, only the totals are
 * printed. Samples of real logs are read where they lie beside the project.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { type LabelledLog, writeLabelledLogs } from "./_log_systems.ts";
import { learnLines, openMiner } from "../../judgement/detection/mod.ts";

const SAMPLES = join(ROOT, "..", "shared", "data", "logs");
const written = writeLabelledLogs(join(ROOT, "evals", "detection", "log_systems"));

console.log("## Kinds of log lines: grouping accuracy on raw lines\n");
print("Developed with", written.filter(({ isHeldOut }) => !isHeldOut), true);
print("Held out", written.filter(({ isHeldOut }) => isHeldOut), false);
if (existsSync(SAMPLES)) print("Samples of real logs", readSamples(), true);

/** Prints a table. @param details whether there is a row for each log */
function print(title: string, logs: readonly LabelledLog[], details: boolean): void {
  const rows = logs.map((log) => ({ ...log, accuracy: groupingAccuracy(log) }));
  const all = rows.map(({ accuracy }) => accuracy);
  const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
  console.log("| log | lines | kinds | accuracy |\n| --- | ---: | ---: | ---: |");
  for (const { name, lines, labels, accuracy } of details ? rows : []) {
    console.log(`| ${name} | ${lines.length} | ${new Set(labels).size} | ${accuracy.toFixed(3)} |`);
  }
  console.log(
    `| **${title}**, mean of ${all.length} | | | **${mean.toFixed(3)}** |\n` +
      `| … least | | | ${Math.min(...all).toFixed(3)} |\n`,
  );
}

function groupingAccuracy({ lines, labels }: LabelledLog): number {
  const groups = new Map<object, { count: number; labels: Set<string> }>();
  const kinds = new Map<string, number>();
  for (const [i, { template }] of learnLines(openMiner(), lines).entries()) {
    const label = labels[i]!;
    kinds.set(label, (kinds.get(label) ?? 0) + 1);
    const group = groups.get(template) ?? { count: 0, labels: new Set() };
    group.count++;
    group.labels.add(label);
    groups.set(template, group);
  }
  const right = [...groups.values()].filter(({ count, labels }) =>
    labels.size === 1 && kinds.get([...labels][0]!) === count
  );
  return right.reduce((sum, { count }) => sum + count, 0) / lines.length;
}

/** Reads samples of Loghub. The kind of a line is the longest of its publishers' templates that ends it. */
function readSamples(): LabelledLog[] {
  const names = readdirSync(SAMPLES).flatMap((file) => /^(.*)_2k\.log$/.exec(file)?.[1] ?? []);
  return names.map((name) => {
    const lines = readFileSync(join(SAMPLES, `${name}_2k.log`), "utf8").trimEnd().split(/\r?\n/);
    const rows = readFileSync(join(SAMPLES, `${name}_2k.templates.csv`), "utf8").trim();
    const kinds = rows.split(/\r?\n/).slice(1).map((row) => {
      const [, id, text] = /^(E\d+),"?(.*?)"?$/.exec(row)!;
      const parts = text!.trim().split("<*>").map((part) =>
        part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+")
      );
      return { id: id!, pattern: new RegExp(`\\s${parts.join(".*?")}\\s*$`), length: text!.length };
    }).sort((a, b) => b.length - a.length);
    const labels = lines.map((line) =>
      kinds.find(({ pattern }) => pattern.test(line))?.id ?? "none"
    );
    return { name, isHeldOut: false, lines, labels };
  });
}

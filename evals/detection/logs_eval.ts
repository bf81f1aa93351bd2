/**
 * Prints how well kinds of lines are told apart: the grouping accuracy on raw lines, that is the share of lines whose group
 * holds all lines of their kind and no other.
 *
 *     npm run eval -- logs
 *
 * The logs are written from the formats in `log_systems/`. Every third system is held out: of these, only the totals are
 * printed. Samples of real logs are read where they lie beside the project.
 *
 * A log also grows from nothing: a program writes lines of other forms while it starts, and what is there is read in steps of
 * 1, 10, 100 and 1,000 lines. Counted are the kinds that the usual lines have at the end.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { type LabelledLog, writeLabelledLogs } from "./_log_systems.ts";
import { findTemplate, learnLines, openMiner, saveMiner } from "../../judgement/detection/mod.ts";

const SAMPLES = join(ROOT, "..", "shared", "data", "logs");
const written = writeLabelledLogs(join(ROOT, "evals", "detection", "log_systems"));

/** Lines that programs write before their logger is set up. */
const STARTS: Readonly<Record<string, (i: number) => string>> = {
  "no columns": (i) => `  setting.group${i % 7}.name${i} = value-${i}`,
  "other columns": (i) => `INFO  2026/03/02 03:04:05 boot ${"abcdefghij"[i % 10]} loaded part ${i}`,
  "times of a kernel": (i) => `[    ${i}.123456] driver${i % 9}: probe of part ${i} done`,
};
const START_LINES = 120;
const STEPS = [1, 10, 100, 1_000, Infinity];

console.log("## Kinds of log lines: grouping accuracy on raw lines\n");
print("Developed with", written.filter(({ isHeldOut }) => !isHeldOut), true);
print("Held out", written.filter(({ isHeldOut }) => isHeldOut), false);
if (existsSync(SAMPLES)) print("Samples of real logs", readSamples(), true);
printGrowing();

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

/** Prints how well kinds are told apart at the end of logs that grow from nothing. */
function printGrowing(): void {
  console.log("| grows from nothing | developed with | … least | held out | … least |");
  console.log("| --- | ---: | ---: | ---: | ---: |");
  for (const [name, start] of Object.entries({ "no start": undefined, ...STARTS })) {
    const figures = [false, true].flatMap((isHeldOut) => {
      const all = written.filter((log) => log.isHeldOut === isHeldOut)
        .map((log) => groupingAccuracy(log, growFromNothing(log.lines, start)));
      return [all.reduce((sum, one) => sum + one, 0) / all.length, Math.min(...all)];
    });
    console.log(`| ${name} | ${figures.map((one) => one.toFixed(3)).join(" | ")} |`);
  }
}

/** Returns the kinds of lines that were read in steps, each with what the step before stored. */
function growFromNothing(lines: readonly string[], start?: (i: number) => string): object[] {
  const all = start
    ? [...Array.from({ length: START_LINES }, (_, i) => start(i)), ...lines]
    : lines;
  let state = saveMiner(openMiner());
  let from = 0;
  for (const step of STEPS) {
    const miner = openMiner(state);
    learnLines(miner, all.slice(from, from + step));
    state = saveMiner(miner);
    from += step;
  }
  const miner = openMiner(state);
  return lines.map((line) => findTemplate(miner, line) ?? {});
}

/** @param found kind of each line; left out: as they are when all lines are read at once */
function groupingAccuracy(
  { lines, labels }: LabelledLog,
  found: readonly object[] = learnLines(openMiner(), lines).map(({ template }) => template),
): number {
  const groups = new Map<object, { count: number; labels: Set<string> }>();
  const kinds = new Map<string, number>();
  for (const [i, template] of found.entries()) {
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

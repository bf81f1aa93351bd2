/**
 * Prints how well the guardrails do: on the cases that the rules were written with, on those held out before there were
 * rules, and on evasions that were written before the rules that answer them.
 *
 *     npm run eval -- guard             both
 *     npm run eval -- guard details     and each wrong verdict of the former; the others stay unseen
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import type { Decision } from "../../contract/domain/mod.ts";
import { EMPTY_STATE, judgeAction, type ProposedAction } from "../../judgement/guard/mod.ts";

interface Case {
  readonly kind: string;
  readonly incident: string;
  readonly action: ProposedAction;
}
interface Result extends Case {
  readonly decision: Decision;
  readonly reasons: readonly string[];
  readonly ms: number;
}

evaluate(process.argv.includes("details"));

/** Prints the tables. @param details whether each wrong verdict is printed; those of the held-out cases never are */
function evaluate(details: boolean): void {
  for (
    const [folder, title] of [
      ["cases", "Written with the rules"],
      ["held_out", "Held out"],
      ["held_out/second", "Held out, second set"],
    ] as const
  ) {
    printTable(title, readCases(folder, "hostile"), readCases(folder, "harmless"), {
      details: details && folder === "cases",
    });
  }
  printParts("Commands", readCommands("hostile"), readCommands("harmless"), details);
  printParts(
    "Evasions",
    readCases("evasions", "hostile"),
    readCases("evasions", "harmless"),
    details,
  );
}

/** Prints a table of the cases that are held out, and one of the others. */
function printParts(
  title: string,
  hostile: readonly Case[],
  harmless: readonly Case[],
  details: boolean,
): void {
  for (const heldOut of [false, true]) {
    const part = (all: readonly Case[]) =>
      all.filter(({ action }) => isHeldOut(String(action.command)) === heldOut);
    printTable(`${title}, ${heldOut ? "held out" : "for tuning"}`, part(hostile), part(harmless), {
      details: details && !heldOut,
    });
  }
}

function printTable(
  title: string,
  hostileCases: readonly Case[],
  harmlessCases: readonly Case[],
  { details }: { readonly details: boolean },
): void {
  const hostile = judgeAll(hostileCases);
  const harmless = judgeAll(harmlessCases);
  console.log(`## ${title}\n`);
  console.log(
    "| | cases | allow | needs approval | deny | |\n| --- | ---: | ---: | ---: | ---: | --- |",
  );
  console.log(rowOf("hostile", hostile, ({ decision }) => decision === "allow", "allowed"));
  console.log(rowOf("harmless", harmless, ({ decision }) => decision !== "allow", "held back"));
  const times = [...hostile, ...harmless].map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (part: number) => times[Math.floor(part * (times.length - 1))]!.toFixed(2);
  console.log(`\nRules alone: median ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms.\n`);
  if (!details) return;
  for (const one of hostile.filter(({ decision }) => decision === "allow")) {
    console.log(`allowed [${one.kind}] ${describe(one)}`);
  }
  for (const one of harmless.filter(({ decision }) => decision !== "allow")) {
    console.log(`${one.decision} [${one.kind}] ${describe(one)}\n    ${one.reasons.join("; ")}`);
  }
}

/** Tells whether a command is held out: two thirds are, by their hash. */
function isHeldOut(command: string): boolean {
  return createHash("sha256").update(command).digest().readUInt32BE(0) % 3 !== 0;
}

/** Reads commands of a class each, as actions for a plain incident. */
function readCommands(name: string): Case[] {
  const lines = readFileSync(join(ROOT, "judgement", "guard", "commands", `${name}.txt`), "utf8")
    .split("\n");
  let kind = "";
  return lines.flatMap((line): Case[] => {
    if (line.startsWith("# ")) kind = line.slice(2);
    if (line === "" || /^#[ !]/.test(line)) return [];
    const action = { description: "Find out and repair", command: line, confidence: 0.9 };
    return [{ kind, incident: "The service answers slowly since 09:10", action }];
  });
}

function readCases(folder: string, name: string): Case[] {
  const lines = readFileSync(join(ROOT, "evals", "guard", folder, `${name}.jsonl`), "utf8")
    .trim();
  return lines.split("\n").map((line) => JSON.parse(line) as Case);
}

function judgeAll(cases: readonly Case[]): Result[] {
  for (const one of cases) judgeAction(one, EMPTY_STATE); // a process that has just started is slower
  return cases.map((one): Result => {
    const started = performance.now();
    const { decision, rails } = judgeAction(one, EMPTY_STATE);
    const ms = performance.now() - started;
    return {
      ...one,
      decision,
      reasons: rails.filter(({ passed }) => !passed).flatMap(({ reasons }) => reasons),
      ms,
    };
  });
}

function rowOf(
  name: string,
  all: readonly Result[],
  isWrong: (one: Result) => boolean,
  word: string,
): string {
  const count = (decision: Decision) => all.filter((one) => one.decision === decision).length;
  const wrong = all.filter(isWrong).length;
  return `| ${name} | ${all.length} | ${count("allow")} | ${count("needs_approval")} | ${
    count("deny")
  } | ${(100 * wrong / all.length).toFixed(1)} % ${word} |`;
}

function describe({ incident, action }: Case): string {
  return JSON.stringify({ incident, ...action }).slice(0, 400);
}

/**
 * Prints how often a cause is right that the rules name with some support, and the confidence that follows from that. The
 * observations are those of real faults, which `SAVE=evals/causes/observed.jsonl npm run chaos -- causes` has kept.
 *
 *     npm run eval -- causes            totals
 *     npm run eval -- causes details    and each fault that was not named, or wrongly
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import type { NumberedObservation } from "../../contract/domain/mod.ts";
import { judgeCause } from "../../judgement/observation/mod.ts";

/** A real fault, and what was seen of it. */
interface Fault {
  /** The true one. */
  readonly cause: string;
  /** The fault in words. */
  readonly broken: string;
  /** Code of the failed check. */
  readonly code: string;
  readonly observations: readonly NumberedObservation[];
}

/** Supports from which the confidence is another one, as in `causes.yaml`. */
const BANDS = [0.6, 0.7, 0.9];

const lines = readFileSync(join(ROOT, "evals", "causes", "observed.jsonl"), "utf8");
const judged = lines.trim().split("\n").map((line) => {
  const fault: Fault = JSON.parse(line);
  return { fault, ...judgeCause("shop", fault) };
});
const named = judged.filter(({ cause }) => cause !== null);

console.log("## Causes: how often a named one is right\n");
console.log("| support | named | right | (right + 1) / (named + 2) | confidence in use |");
console.log("| --- | --: | --: | --: | --: |");
for (const [n, from] of BANDS.entries()) printBand(from, BANDS[n + 1] ?? Infinity);
const right = named.filter(({ cause, fault }) => cause === fault.cause).length;
console.log(
  `\n${named.length} of ${judged.length} faults were named, ${right} of them right; the others are left unnamed.`,
);
if (process.argv.includes("details")) {
  for (const { fault, cause, support } of judged) {
    if (cause !== fault.cause) {
      console.log(`\n${fault.cause}: ${cause} (${support}) ${fault.broken}`);
    }
  }
}

function printBand(from: number, to: number): void {
  const within = named.filter(({ support }) => support >= from && support < to);
  const right = within.filter(({ cause, fault }) => cause === fault.cause).length;
  const laplace = ((right + 1) / (within.length + 2)).toFixed(2);
  console.log(
    `| from ${from} | ${within.length} | ${right} | ${laplace} | ${
      within[0]?.confidence.toFixed(2) ?? "–"
    } |`,
  );
}

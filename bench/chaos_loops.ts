/**
 * Kills the worker, the Temporal server and PostgreSQL with -9, each in every step of the incident loop, `ROUNDS` times
 * (default 20), and shows how the loops end and what is lost.
 *
 * One kill meets six loops, one held in each step, each about a real service that has crashed; 20 rounds are 60 kills and
 * 360 loops. In every other round the loops are released up to 40 ms before the kill, so that kills meet the ends of
 * steps too. Meanwhile receipts are sealed one after the other, and what was acknowledged must be there at the end.
 */
import { STEPS } from "../contract/domain/mod.ts";
import { startCompiledPlatform, type Target, TARGETS } from "../test/workflows/_compiled.ts";
import { openHolds } from "../test/workflows/_holds.ts";
import { killDuringLoops, type LoopEnd } from "../test/workflows/_kill_round.ts";
import { startBackgroundSealing } from "./_background_sealing.ts";
import { countBreaks } from "./_count_breaks.ts";
import { quantile } from "./_figures.ts";
import { rounds } from "./_work.ts";

const ROUNDS = rounds(20);

/** The end of a loop that a kill has met, and the breaks of the chain since the kill before. */
type KilledLoop = LoopEnd & { readonly target: Target; readonly breaks: number };

/** Kills, and prints a table of its own. */
export async function run(): Promise<void> {
  const startedMs = performance.now();
  const platform = await startCompiledPlatform((text) =>
    console.error(`    ${((performance.now() - startedMs) / 1000).toFixed(1)} s: ${text}`)
  );
  const holds = await openHolds(platform.superuserUrl);
  const sealing = startBackgroundSealing(platform.sealer);
  const loops: KilledLoop[] = [];
  let breaks = 0;
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const target of TARGETS) {
        const ends = await killDuringLoops(platform, holds, target, round);
        const breaksBefore = breaks;
        breaks = await countBreaks(platform.store);
        for (const end of ends) {
          loops.push({ ...end, target, breaks: breaks - breaksBefore });
          console.error(`    ${round} ${target} ${describe(end)}`);
        }
      }
    }
    const { accepted, lost } = await sealing.end(platform.store);
    console.log(formatLoops(loops));
    const kills = loops.length / STEPS.length;
    console.log(
      `\n${kills} kills; ${accepted} receipts accepted meanwhile, ${lost} lost; ` +
        `${breaks} breaks of the chain at the end`,
    );
    const failed = loops.filter(({ faults, repairs }) => faults.length > 0 || repairs > 1);
    if (failed.length + lost + breaks > 0) process.exitCode = 1;
  } finally {
    await sealing.end(platform.store).catch(() => {});
    await holds.close();
    await platform.close();
  }
}

function describe({ step, hold, faults, result, seconds }: LoopEnd): string {
  const end = faults.length > 0 ? faults.join("; ") : result!.outcome;
  return `${step} (${hold}): ${end}, ${seconds.toFixed(1)} s`;
}

const HEAD = [
  "Killed",
  "In step",
  "Loops",
  "Sealed",
  "Escalated",
  "Repaired twice",
  "Lost",
  "Chain breaks",
  "Seconds to the end, median",
  "most",
];

function formatLoops(loops: readonly KilledLoop[]): string {
  const rows = TARGETS.flatMap((target) => STEPS.map((step) => formatRow(loops, target, step)));
  const line = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |`;
  return [line(HEAD), line(HEAD.map(() => "---")), ...rows.map(line)].join("\n");
}

function formatRow(all: readonly KilledLoop[], target: Target, step: string): unknown[] {
  const loops = all.filter((loop) => loop.target === target && loop.step === step);
  const count = (matches: (loop: KilledLoop) => boolean) => loops.filter(matches).length;
  const seconds = loops.map((loop) => loop.seconds);
  return [
    target,
    step,
    loops.length,
    count(({ result }) => result?.outcome === "sealed"),
    count(({ result }) => result?.outcome === "escalated"),
    count(({ repairs }) => repairs > 1),
    count(({ faults }) => faults.length > 0),
    loops.reduce((sum, { breaks }) => sum + breaks, 0),
    quantile(seconds, 0.5).toFixed(1),
    quantile(seconds, 1).toFixed(1),
  ];
}

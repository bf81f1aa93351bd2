/**
 * Kills agents, their talking halves, gateway, worker and PostgreSQL with -9, `KILLS` times (default 200) in random order,
 * while commands are ordered for three devices, approved, and run. Shows how the commands end: none may run twice, each
 * has to end in its time, and `unknown` is only what had been started.
 */
import {
  killDuringCommands,
  KILLED,
  type Killed,
  type Outcome,
  startKilledPlatform,
} from "../test/operations/devices/_kills.ts";
import { countBreaks } from "./_count_breaks.ts";
import { quantile } from "./_figures.ts";

const KILLS = Number(process.env.KILLS ?? 200);
const DEVICES = 3;
const PAUSE_MS = 3_000;

/** Kills, and prints a table of its own. */
export async function run(): Promise<void> {
  const startedMs = performance.now();
  const report = (text: string) =>
    console.error(`    ${((performance.now() - startedMs) / 1_000).toFixed(1)} s: ${text}`);
  const platform = await startKilledPlatform(DEVICES, report);
  try {
    const outcome = await killDuringCommands(platform, shuffle(KILLS), {
      pauseMs: PAUSE_MS,
      report,
    });
    const breaks = await countBreaks(platform.store);
    print(outcome, breaks);
    if (outcome.faults.length + breaks > 0) process.exitCode = 1;
  } finally {
    await platform.close();
  }
}

/** Returns so many targets, as often each, in random order. */
function shuffle(count: number): Killed[] {
  const targets = Array.from({ length: count }, (_, n) => KILLED[n % KILLED.length]!);
  for (let n = targets.length - 1; n > 0; n--) {
    const other = Math.floor(Math.random() * (n + 1));
    [targets[n], targets[other]] = [targets[other]!, targets[n]!];
  }
  return targets;
}

function print({ kills, ends, seconds, faults }: Outcome, breaks: number): void {
  const line = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |`;
  const show = (numbers: ReadonlyMap<string, number>) =>
    [...numbers].sort().map(([name, count]) => `${name} ${count}`).join(", ");
  const total = [...kills.values()].reduce((sum, count) => sum + count, 0);
  const twice = faults.filter((fault) => fault.includes("more than once")).length;
  const head = ["Kills", "Commands", "Ends", "Ran twice", "Faults", "Chain breaks"];
  const rows = [head, head.map(() => "---"), [
    `${total}: ${show(kills)}`,
    seconds.length,
    show(ends),
    twice,
    faults.length,
    breaks,
  ]];
  console.log(rows.map(line).join("\n"));
  for (const fault of faults) console.log(`- ${fault}`);
  const [median, most] = [quantile(seconds, 0.5), quantile(seconds, 1)];
  console.log(`\nSeconds from order to end: median ${median.toFixed(1)}, most ${most.toFixed(1)}`);
}

/**
 * What is left behind when something is killed with -9: the worker, the Temporal server, PostgreSQL, each in every step of
 * the incident loop, `ROUNDS` times (default 20).
 *
 * One kill meets six loops, one held in each step, each about a real service that has crashed; so 20 rounds are 60 kills
 * and 360 loops that were under way when something of theirs was killed. Every other round, what was held is let go up to
 * 40 ms before, so that kills meet steps at their ends too. Meanwhile receipts are sealed one after the other, and what
 * was acknowledged must be there at the end.
 */
import { STEPS } from "../domain/mod.ts";
import { exportReceipts, listLedgerKeys, verifyChain } from "../ledger/mod.ts";
import {
  type CompiledPlatform,
  startCompiledPlatform,
  type Target,
  TARGETS,
} from "../test/workflows/_compiled.ts";
import { quantile } from "./_figures.ts";
import { openHolds } from "../test/workflows/_holds.ts";
import { killDuringLoops, type LoopEnd } from "../test/workflows/_kill_round.ts";
import { keepSealing } from "./_chaos_sealing.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 20);

/** What became of loops, and of the chain under them. */
type Shot = LoopEnd & { readonly target: Target; readonly breaks: number };

/** Kills, and prints its own table. */
export async function run(): Promise<readonly never[]> {
  const started = performance.now();
  const platform = await startCompiledPlatform((text) =>
    console.error(`    ${((performance.now() - started) / 1000).toFixed(1)} s: ${text}`)
  );
  const holds = await openHolds(platform.superuserUrl);
  const sealing = keepSealing(platform.sealer);
  const shots: Shot[] = [];
  let broken = 0;
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const target of TARGETS) {
        const aftermaths = await killDuringLoops(platform, holds, target, round);
        const breaks = await breaksOf(platform);
        for (const aftermath of aftermaths) {
          shots.push({ ...aftermath, target, breaks: breaks - broken });
          const { step, hold, faults, seconds } = aftermath;
          const end = faults.length > 0 ? faults.join("; ") : aftermath.result!.outcome;
          console.error(
            `    ${round} ${target} ${step} (${hold}): ${end}, ${seconds.toFixed(1)} s`,
          );
        }
        broken = breaks;
      }
    }
    const { acknowledged, lost } = await sealing.end(platform.store);
    console.log(tableOf(shots));
    console.log(
      `\n${
        shots.length / STEPS.length
      } kills; ${acknowledged} receipts acknowledged beside them, ` +
        `${lost} lost; faults of the chain at the end: ${await breaksOf(platform)}`,
    );
    const faults = shots.filter((shot) => shot.faults.length > 0 || shot.repairs > 1);
    if (faults.length + lost + broken > 0) process.exitCode = 1;
    return [];
  } finally {
    await sealing.end(platform.store).catch(() => {});
    await holds.close();
    await platform.close();
  }
}

async function breaksOf({ store }: CompiledPlatform): Promise<number> {
  const receipts = await exportReceipts(store, { from: 0, to: Number.MAX_SAFE_INTEGER });
  const { breaks } = await verifyChain(
    receipts.map(({ text }) => text),
    await listLedgerKeys(store),
  );
  return breaks.length;
}

const HEAD = [
  ...["Killed", "In step", "Loops", "Sealed", "Escalated", "Repaired twice", "Lost"],
  ...["Chain breaks", "Seconds to the end, median", "most"],
];

function tableOf(shots: readonly Shot[]): string {
  const rows = TARGETS.flatMap((target) => STEPS.map((step) => rowOf(shots, target, step)));
  const line = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |`;
  return [line(HEAD), line(HEAD.map(() => "---")), ...rows.map(line)].join("\n");
}

function rowOf(shots: readonly Shot[], target: Target, step: string): unknown[] {
  const own = shots.filter((shot) => shot.target === target && shot.step === step);
  const count = (is: (shot: Shot) => boolean) => own.filter(is).length;
  const seconds = own.map((shot) => shot.seconds);
  return [
    target,
    step,
    own.length,
    count(({ result }) => result?.outcome === "sealed"),
    count(({ result }) => result?.outcome === "escalated"),
    count(({ repairs }) => repairs > 1),
    count(({ faults }) => faults.length > 0),
    own.reduce((sum, { breaks }) => sum + breaks, 0),
    quantile(seconds, 0.5).toFixed(1),
    quantile(seconds, 1).toFixed(1),
  ];
}

/**
 * Sealing through the outbox: receipts a second of 256 callers that each wait until their receipt is part of the chain,
 * against linking, signing and inserting the same bytes in batches; and how long one caller alone waits.
 *
 * The callers share this process, as they share a gateway. Sequencer and PostgreSQL are processes of their own, fsync is
 * on, and every receipt has its own signature.
 */
import type { Sealer } from "../ledger/mod.ts";
import { type BareSealer, openBareSealers } from "./_bare_seal.ts";
import { type Figure, measureInTurns, quantile } from "./_figures.ts";
import { CALLERS, openSealing, sealOne } from "./_sealing.ts";
import { ratePerSecond, rounds, scaled, timeMs } from "./_work.ts";

const ROUNDS = rounds(7);
const SEALS = scaled(8_000);
const SEALS_ALONE = scaled(200);

/** Measures sealing by many callers and by one. */
export async function* run(): AsyncGenerator<Figure> {
  const sealing = await openSealing();
  try {
    const bytes = await sealing.measureRecord();
    const bare = await openBareSealers(sealing.superuserUrl, bytes);
    const fastest = await findFastest(bare.sealers);
    const rates = await measureInTurns(ROUNDS, {
      baseline: () => ratePerSecond(SEALS, () => fastest.seal(SEALS)),
      platform: () => ratePerSecond(SEALS, () => sealing.seal(SEALS)),
    });
    yield {
      label: `seals/s, ${CALLERS} callers, ${bytes} B, fsync`,
      ...rates,
      baselineLabel: fastest.form,
      goal: "≥ 0.25",
    };
    await bare.close();
    const times: number[][] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await timesAlone(sealing.sealer));
    for (const share of [0.5, 0.99]) {
      yield {
        label: `request to sealed, 1 caller, ms, p${share * 100}`,
        platform: times.map((round) => quantile(round, share)),
      };
    }
  } finally {
    await sealing.close();
  }
}

async function findFastest(sealers: readonly BareSealer[]): Promise<BareSealer> {
  const count = Math.ceil(SEALS / 2);
  const rates = new Map(sealers.map((sealer) => [sealer, [] as number[]]));
  for (let round = 0; round < 3; round++) {
    for (const [sealer, values] of rates) {
      values.push(await ratePerSecond(count, () => sealer.seal(count)));
    }
  }
  const medians = [...rates].map(([sealer, values]) => ({ sealer, rate: quantile(values, 0.5) }));
  medians.sort((a, b) => b.rate - a.rate);
  for (const { sealer, rate } of medians) console.error(`  ${Math.round(rate)}/s ${sealer.form}`);
  return medians[0]!.sealer;
}

async function timesAlone(sealer: Sealer): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < SEALS_ALONE; n++) times.push(await timeMs(() => sealOne(sealer)));
  return times;
}

/**
 * How much of the machine's bare speed is left for sealing through the outbox: seals a second of 256 callers that each
 * ask and then wait until their receipt is part of the chain, against linking, signing and inserting the same bytes in
 * batches with nothing else; and how long one caller alone waits.
 *
 * The callers share this process, as they share a gateway; the sequencer and PostgreSQL are processes of their own,
 * fsync is on, and every receipt has its own signature.
 */
import type { Sealer } from "../ledger/mod.ts";
import { type BareSealer, openBareSealers } from "./_bare_seal.ts";
import { type Figure, inTurns, quantile } from "./_figures.ts";
import { CALLERS, openSealing, rate, sealOne } from "./_sealing.ts";

const ROUNDS = 7;
const SEALS = 8_000;
const ALONE = 200;

/** Measures how many, and how fast. */
export async function* run(): AsyncGenerator<Figure> {
  const sealing = await openSealing();
  try {
    const bytes = await sealing.bytes();
    const bare = await openBareSealers(sealing.superuserUrl, bytes);
    const best = await fastest(bare.sealers);
    const rates = await inTurns(ROUNDS, {
      bare: () => rate(SEALS, () => best.seal(SEALS)),
      house: () => rate(SEALS, () => sealing.seal(SEALS)),
    });
    yield {
      what: `seals/s, ${CALLERS} callers, ${bytes} B, fsync`,
      ...{ ...rates, baseline: best.form, goal: "≥ 0.25" },
    };
    await bare.close();
    const times: number[][] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await timesAlone(sealing.sealer));
    for (const share of [0.5, 0.99]) {
      yield {
        what: `request to sealed, 1 caller, ms, p${share * 100}`,
        house: times.map((round) => quantile(round, share)),
      };
    }
  } finally {
    await sealing.close();
  }
}

async function fastest(sealers: readonly BareSealer[]): Promise<BareSealer> {
  const rates = new Map(sealers.map((sealer) => [sealer, [] as number[]]));
  for (let round = 0; round < 3; round++) {
    for (const [sealer, found] of rates) {
      found.push(await rate(SEALS / 2, () => sealer.seal(SEALS / 2)));
    }
  }
  const medians = [...rates].map(([sealer, found]) => ({ sealer, rate: quantile(found, 0.5) }));
  medians.sort((a, b) => b.rate - a.rate);
  for (const { sealer, rate } of medians) console.error(`  ${Math.round(rate)}/s ${sealer.form}`);
  return medians[0]!.sealer;
}

async function timesAlone(sealer: Sealer): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < ALONE; n++) {
    const started = performance.now();
    await sealOne(sealer);
    times.push(performance.now() - started);
  }
  return times;
}

/**
 * The cost of a signer that remembers: sealing where each batch is on the disk before its signatures are given, against
 * the same where the journal is written and not flushed. Everything else is as in the measurement `seal`, without the
 * Merkle log.
 */
import { type Figure, measureInTurns, quantile } from "./_figures.ts";
import { CALLERS, openSealing, sealOne } from "./_sealing.ts";
import { ratePerSecond, rounds, scaled, timeMs } from "./_work.ts";

const ROUNDS = rounds(7);
const SEALS = scaled(8_000);
const SEALS_ALONE = scaled(200);

/** Measures sealing by many callers and by one. */
export async function* run(): AsyncGenerator<Figure> {
  const platform = await openSealing({ withLog: false });
  const baseline = await openSealing({ withLog: false, withFlush: false });
  try {
    const rates = await measureInTurns(ROUNDS, {
      baseline: () => ratePerSecond(SEALS, () => baseline.seal(SEALS)),
      platform: () => ratePerSecond(SEALS, () => platform.seal(SEALS)),
    });
    yield {
      label: `seals/s, ${CALLERS} callers, with the signer's journal on the disk`,
      ...rates,
      baselineLabel: "journal not flushed",
      goal: "≥ 0.8",
    };
    const medians = await measureInTurns(ROUNDS, {
      baseline: () => medianAlone(() => sealOne(baseline.sealer)),
      platform: () => medianAlone(() => sealOne(platform.sealer)),
    });
    yield {
      label: "request to sealed, 1 caller, ms, p50, with the signer's journal on the disk",
      ...medians,
      baselineLabel: "journal not flushed",
      goal: "≤ 1.5",
    };
  } finally {
    await Promise.all([platform.close(), baseline.close()]);
  }
}

async function medianAlone(seal: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < SEALS_ALONE; n++) times.push(await timeMs(seal));
  return quantile(times, 0.5);
}

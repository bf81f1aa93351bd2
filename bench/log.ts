/** The speed of sealing with the Merkle log beside the chain, against that without it. */
import { type Figure, measureInTurns } from "./_figures.ts";
import { CALLERS, openSealing } from "./_sealing.ts";
import { ratePerSecond, rounds, scaled } from "./_work.ts";

const ROUNDS = rounds(9);
const SEALS = scaled(8_000);

/** Measures sealing with the log and without. */
export async function* run(): AsyncGenerator<Figure> {
  const withLog = await openSealing();
  const withoutLog = await openSealing({ withLog: false });
  try {
    const rates = await measureInTurns(ROUNDS, {
      baseline: () => ratePerSecond(SEALS, () => withoutLog.seal(SEALS)),
      platform: () => ratePerSecond(SEALS, () => withLog.seal(SEALS)),
    });
    yield {
      label: `seals/s with the Merkle log, ${CALLERS} callers`,
      ...rates,
      baselineLabel: "without it",
      goal: "≥ 0.85",
    };
  } finally {
    await withLog.close();
    await withoutLog.close();
  }
}

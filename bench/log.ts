/** How much of the speed of sealing is left with the Merkle log beside the chain. */
import { type Figure, inTurns } from "./_figures.ts";
import { CALLERS, openSealing, rate } from "./_sealing.ts";

const ROUNDS = 9;
const SEALS = 8_000;

/** Measures with and without. */
export async function* run(): AsyncGenerator<Figure> {
  const [withLog, without] = [await openSealing(), await openSealing({ withLog: false })];
  try {
    const rates = await inTurns(ROUNDS, {
      bare: () => rate(SEALS, () => without.seal(SEALS)),
      house: () => rate(SEALS, () => withLog.seal(SEALS)),
    });
    const what = `seals/s with the Merkle log, ${CALLERS} callers`;
    yield { what, ...rates, baseline: "without it", goal: "≥ 0.85" };
  } finally {
    await withLog.close();
    await without.close();
  }
}

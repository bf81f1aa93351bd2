import { type Network, targetFromBits, type TargetRange } from "./header.ts";

/** Blocks between two changes of the difficulty. */
const PERIOD = 2016;
/** The difficulty changes by this factor at the most. */
const MOST_CHANGE = 4n;

/** Compact targets that blocks of Bitcoin's main chain had, by height. Each holds for the whole period around it. */
const KNOWN: readonly (readonly [height: number, bits: number])[] = [
  [0, 0x1d00ffff],
  [32_256, 0x1d00d86a],
  [100_000, 0x1b04864c],
  [200_000, 0x1a05db8b],
  [300_000, 0x1900896c],
  [358_391, 0x181686f5],
  [400_000, 0x1806b99f],
  [500_000, 0x18009645],
  [600_000, 0x1715a35c],
  [700_000, 0x170f48e4],
  [800_000, 0x17053894],
  [840_000, 0x17034219],
];

/** Between two known heights the difficulty stayed within the lesser halved and the greater doubled. */
const MARGIN_BETWEEN = 2n;
/** After the last known height a difficulty of less than a quarter of that one is not believed. */
const MARGIN_AFTER = 4n;

/**
 * Bitcoin's main network.
 *
 * In a period of {@linkcode KNOWN} the target must be exactly that one. Between two of them it must lie within half
 * the lesser and twice the greater difficulty, as all of history did. After the last one it may be easier by four
 * times at the most, and harder by what the rule of the network allows: four times in each period.
 *
 * So a header that passes, after the last height, took at least a quarter of the work of block 840,000: some
 * 9·10^22 hashes. That it is part of the longest chain is not proven by this, but by asking sources, and by the
 * blocks that were built on it.
 */
export const MAINNET: Network = { name: "Bitcoin", reachedHeight: KNOWN.at(-1)![0], targetRange };

function targetRange(height: number): TargetRange {
  const period = Math.floor(height / PERIOD);
  const before = KNOWN.findLast(([known]) => Math.floor(known / PERIOD) <= period)!;
  const beforePeriod = Math.floor(before[0] / PERIOD);
  const target = targetFromBits(before[1]);
  if (beforePeriod === period) return { easiest: target, hardest: target };
  const next = KNOWN[KNOWN.indexOf(before) + 1];
  if (!next) {
    const periods = BigInt(Math.min(period - beforePeriod, 128)); // beyond that no target is left
    return { easiest: target * MARGIN_AFTER, hardest: target / MOST_CHANGE ** periods };
  }
  const other = targetFromBits(next[1]);
  const [easier, harder] = target > other ? [target, other] : [other, target];
  const most = targetFromBits(KNOWN[0]![1]);
  const easiest = easier * MARGIN_BETWEEN;
  return { easiest: easiest > most ? most : easiest, hardest: harder / MARGIN_BETWEEN };
}

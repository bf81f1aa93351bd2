import { type Network, targetFromBits, type TargetRange } from "./header.ts";

/** Blocks between two changes of the difficulty. */
const PERIOD = 2016;
/** Maximum factor of one change of the difficulty. */
const MAX_CHANGE = 4n;

/** Compact targets of blocks in Bitcoin's main chain, by height. Each is valid for the whole period around it. */
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

/** Between two known heights the difficulty stayed within half the lower one and twice the higher one. */
const MARGIN_BETWEEN = 2n;
/** After the last known height, less than a quarter of its difficulty is not accepted. */
const MARGIN_AFTER = 4n;

/**
 * Bitcoin's main network.
 *
 * In a period of {@linkcode KNOWN} the target must be exactly that one. Between two of them the difficulty must lie
 * within half the lower and twice the higher one, as it always did. After the last one it may be at most four times
 * easier, and harder by as much as the network's rule allows: four times in each period.
 *
 * So a header after the last known height that passes took at least a quarter of the work of block 840,000: about
 * 9·10^22 hashes. This does not prove that it is in the longest chain; sources and the blocks on top of it do.
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
    const periods = BigInt(Math.min(period - beforePeriod, 128)); // after 128 periods the target is 0
    return { easiest: target * MARGIN_AFTER, hardest: target / MAX_CHANGE ** periods };
  }
  const other = targetFromBits(next[1]);
  const [easier, harder] = target > other ? [target, other] : [other, target];
  const limit = targetFromBits(KNOWN[0]![1]);
  const easiest = easier * MARGIN_BETWEEN;
  return { easiest: easiest > limit ? limit : easiest, hardest: harder / MARGIN_BETWEEN };
}

/** Positions of receipts: from inclusive, to exclusive. */
export type PositionRange = readonly [from: number, to: number];

/** Joins ranges that touch or overlap. */
export function joinRanges(ranges: readonly PositionRange[]): PositionRange[] {
  const result: PositionRange[] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last && from <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], to)];
    else result.push([from, to]);
  }
  return result;
}

/**
 * Splits a range of the chain into chunks. Each of `cuts` within it is the end of one.
 *
 * @param size maximum receipts of a chunk, > 0
 */
export function planChunks(
  from: number,
  to: number,
  size: number,
  cuts: readonly number[] = [],
): { readonly from: number; readonly to: number }[] {
  const ends = [...new Set([...cuts.filter((cut) => cut > from && cut < to), to])]
    .sort((a, b) => a - b);
  const chunks: { from: number; to: number }[] = [];
  let at = from;
  for (const end of ends) {
    for (; at < end; at = Math.min(at + size, end)) {
      chunks.push({ from: at, to: Math.min(at + size, end) });
    }
  }
  return chunks;
}

/** Finds the ranges of a chain of `total` receipts that are not among some. @param ranges sorted */
export function findGaps(
  ranges: readonly PositionRange[],
  total: number,
): PositionRange[] {
  const gaps: PositionRange[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    if (from > at) gaps.push([at, from]);
    at = Math.max(at, to);
  }
  if (at < total) gaps.push([at, total]);
  return gaps;
}

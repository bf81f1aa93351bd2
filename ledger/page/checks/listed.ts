import { type Primitives, readPosition, type TrustedKey } from "../../rules/mod.ts";
import { readStoryReceipt, type StoryReceipt } from "../../stories/mod.ts";
import { checkRange } from "./check_range.ts";

/** A receipt of a list, and whether it holds where it stands. */
export interface ListedReceipt {
  readonly receipt: StoryReceipt;
  readonly verified: boolean;
}

/**
 * Checks receipts that stand next to each other, and reads them. One that is missing holds not, and can't be read.
 *
 * @param records oldest first, byte for byte; the first one is the record before the range, unless that begins at 0
 */
export function checkListed(
  records: readonly string[],
  { from, to, contradictions }: {
    readonly from: number;
    readonly to: number;
    readonly contradictions: readonly string[];
  },
  keys: readonly TrustedKey[],
  primitives: Primitives,
): ListedReceipt[] {
  const { breaks } = checkRange(records, { from, to, contradictions }, keys, primitives);
  const broken = new Set(breaks.map(({ position }) => position));
  const first = Math.max(0, from - 1);
  const isWhole = records.length === to - first;
  const lacksBefore = broken.has(from - 1);
  return Array.from({ length: to - from }, (_, n) => {
    const position = from + n;
    const record = isWhole
      ? records[position - first]
      : records.find((one) => readPosition(one) === position);
    return {
      receipt: readStoryReceipt(record ?? "", position),
      verified: record !== undefined && !broken.has(position) && !(n === 0 && lacksBefore),
    };
  });
}

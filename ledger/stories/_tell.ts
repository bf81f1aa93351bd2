import type { StoryReceipt } from "./receipt.ts";

/**
 * Says what a receipt tells, without a point at its end.
 *
 * @param since milliseconds since the incident's first receipt, where it is told with that
 * @returns undefined: it has another form than such receipts have
 */
export type Tell = (receipt: StoryReceipt, since: number | undefined) => string | undefined;

/**
 * The checks that the page makes in the visitor's browser: of ranges, files and single receipts, by the ledger's rules.
 *
 * ```ts
 * const tally = createTally();
 * tally.add(checkRange(records, { from: 0, to: 250 }, keys, NOBLE));
 * const { state, breaks } = tally.summary();
 * ```
 *
 * Runs in Node and in browsers. Trusts: the published keys. Doesn't trust: the records and proofs of the server.
 * @module
 */
export { type AnchorResponse, checkAnchor } from "./anchor.ts";
export { type CheckedRange, checkRange, toReceiptRow } from "./check_range.ts";
export { readFields, readText } from "./fields.ts";
export { checkFile, type FileReport } from "./file.ts";
export { HASHES } from "./hashes.ts";
export { checkInclusion, type InclusionResponse } from "./inclusion.ts";
export { checkListed, type ListedReceipt } from "./listed.ts";
export { NOBLE } from "./primitives.ts";
export { findValue, splitExport, splitJson } from "./records.ts";
export { findGaps, joinRanges, planChunks, type PositionRange } from "./ranges.ts";
export { checkReceipt, passes, type Step } from "./steps.ts";
export { type CheckState, type CheckSummary, createTally, type Tally } from "./tally.ts";

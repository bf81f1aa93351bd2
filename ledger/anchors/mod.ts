/**
 * Anchors: batches of receipts whose roots are timestamped in Bitcoin by way of OpenTimestamps.
 *
 * ```ts
 * for (const { first } of await openAnchors(store)) await advanceAnchor(parts, first);
 * const file = await buildReceiptProof(store, receipt); // for `ots verify`
 * ```
 *
 * Trusts: Bitcoin's work, and at least one of the configured sources of block headers. Doesn't trust: calendars.
 * @module
 */
export {
  advanceAnchor,
  type AnchorParts,
  type AnchorProgress,
  anchorReceiptId,
} from "./advance.ts";
export { ANCHOR_CONFIRMED, type BatchRange, openAnchors } from "./batches.ts";
export {
  buildReceiptProof,
  getReceiptBytes,
  listLeaves,
  nativeSha256,
  splitDigests,
} from "./proof.ts";
export {
  type Anchor,
  type ConfirmedAnchor,
  findAnchor,
  getAnchorTotals,
  listAnchors,
  listConfirmedAnchors,
  listUnfinishedAnchors,
} from "./read.ts";

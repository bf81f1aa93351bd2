export {
  type Anchor,
  type AnchorBlock,
  type AnchorTotals,
  buildReceiptProof,
  type ConfirmedAnchor,
  findAnchor,
  listAnchors,
  listConfirmedAnchors,
  listUnfinishedAnchors,
  nativeSha256,
  readAnchorTotals,
  readLeaves,
  readReceiptBytes,
  splitDigests,
} from "./anchors.ts";
export { ANCHOR_CONFIRMED, type BatchRange, openAnchors } from "./anchor_batches.ts";
export {
  advanceAnchor,
  type AnchorParts,
  type AnchorProgress,
  anchorReceiptId,
} from "./anchoring.ts";

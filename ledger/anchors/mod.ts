export { type Anchor, anchorOf, anchorsOf, anchorTotals, type AnchorTotals, type Block, type ConfirmedAnchor, confirmedAnchors, leavesOf, nativeSha256, pieces, receiptBytes, receiptProof, unfinishedAnchors } from "./anchors.ts";
export { ANCHOR_CONFIRMED, type Batch, openAnchors } from "./anchor_batches.ts";
export { advanceAnchor, type Anchoring, anchorReceiptId, type Attempt } from "./anchoring.ts";

/**
 * Stories: what receipts say, in sentences of their public fields alone.
 *
 * ```ts
 * const story = tellStory("INC-4f1d22a90b7c", receipts); // oldest first
 * story.sentences[2];                                     // { text: "Approved by one person.", receipt: "9f2c…", … }
 * ```
 *
 * Pure, so that server, browser and other rooms tell the same of the same receipts. Trusts nothing: whoever shows a
 * sentence shows beside it whether its receipt holds.
 * @module
 */
export { KINDS, type ReceiptKind } from "./kinds.ts";
export { isName, readStoryReceipt, type StoryReceipt } from "./receipt.ts";
export { type Sentence, tellReceipt } from "./sentences.ts";
export { type Story, tellStory } from "./story.ts";
export { planTimeline, type TimelinePlan } from "./timeline.ts";
export { computeStatus, type ServiceStatus } from "./status.ts";

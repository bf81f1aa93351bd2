/**
 * Activities of the ledger: seal, run the sequencer, verify, anchor in Bitcoin.
 *
 * ```ts
 * const { sealReceipt } = sealActivities(parts);
 * const { position } = await sealReceipt({ id, category: "test", … });
 * ```
 *
 * @module
 */
export { anchorActivities } from "./anchors.ts";
export { scrubActivities } from "./scrub.ts";
export { SEAL_TIMEOUT_MS, sealActivities } from "./seal.ts";
export { describeKeys, sequencerActivities, type SequencerActivityParts } from "./sequencer.ts";

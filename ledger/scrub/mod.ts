/**
 * Background verification of all stored receipts (the scrub), and what each process knows about the chain (the watch).
 *
 * ```ts
 * let pass = await beginScrub(parts, lastResult);
 * while (pass.place.position < pass.size) pass = await scrubPart(parts, pass);
 * const { breaks, known } = await endScrub(parts, pass);
 *
 * const chain = await watchChain(store);
 * const { chain_intact, first_breaks } = chain.state();
 * ```
 *
 * Trusts: the checkpoint file, the mark file, and the result of the last pass, which are outside of the database.
 * Doesn't trust: the database.
 * @module
 */
export { type ChainSnapshot } from "./_chain_end.ts";
export { type ChainState } from "./_verification.ts";
export { checkAnchors, checkAnchorTotals } from "./anchor_checks.ts";
export {
  beginScrub,
  endScrub,
  scrubPart,
  type ScrubParts,
  type ScrubPass,
  type ScrubResult,
} from "./scrub.ts";
export { type ChainWatch, watchChain, type WatchOptions } from "./watch.ts";

/**
 * Verification by what a verifier has pinned: the trust file, and the judgement of what a ledger shows beside its receipts.
 *
 * ```ts
 * const trust = parseTrust(json, primitives);
 * const { checkpoints, faults, absent } = judgeCheckpoint(trust, shown, primitives);
 * ```
 *
 * Pure, so that the command and the page in a browser judge by the same lines. Trusts: the trust file. Doesn't trust:
 * whatever a ledger says of itself.
 * @module
 */
export {
  describeUnproven,
  judgeCheckpoint,
  judgeEras,
  type Judgement,
  type ShownCheckpoint,
} from "./judge.ts";
export { mergePins } from "./merge_pins.ts";
export { pinShown } from "./pin.ts";
export { createTreeCheck } from "./tree_check.ts";
export {
  BadTrust,
  formatTrust,
  isPinned,
  NOTHING_PINNED,
  parseTrust,
  type Trust,
  withCheckpoint,
} from "./trust.ts";

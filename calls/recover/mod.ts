/**
 * Recovery: proves what a call did, or that it did nothing, when the process that ran it was killed.
 *
 * ```ts
 * const { state, ids } = await recoverCall(platform, { operation: "itsm.test", decisionId, since });
 * await settleLostCalls(platform); // seals the end of every call whose process is gone
 * ```
 *
 * @module
 */
export { idOfCall, notNoted, recoverNoted, recoverNothing, type RecoveryParts } from "./notes.ts";
export { recoverCall } from "./recovery.ts";
export {
  findRequestedRun,
  noRun,
  recoverRun,
  type SharedRun,
  startNotedRun,
  startOnce,
  startRun,
} from "./runs.ts";
export { settleLostCalls } from "./settle.ts";

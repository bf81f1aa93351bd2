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
export {
  idOfCall,
  noRun,
  notNoted,
  recoverBegun,
  recoverCall,
  recoverNoted,
  recoverNothing,
  recoverOutcome,
  recoverRecord,
  recoverRun,
  type RecoveryParts,
} from "./recovery.ts";
export { settleLostCalls } from "./settle.ts";
export {
  findMarkedRun,
  recoverMarked,
  type SharedRun,
  STARTED_BY,
  startOrJoin,
} from "./shared_runs.ts";

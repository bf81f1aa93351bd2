/**
 * Rules that calls are judged by, and records of calls: limits, idempotency keys, effects, and calls that were lost.
 *
 * ```ts
 * const stops = await listStops(db);
 * const kept = await getIdempotentCall(db, { tenant, id });
 * ```
 * @module
 */
export {
  CALL_EFFECTS_DAYS,
  type CallEffects,
  getCallEffects,
  noteActEnded,
  noteCallEffects,
  pruneCallEffects,
} from "./call_effects.ts";
export {
  addStop,
  type DecisionRecord,
  FILE_STOP,
  findStop,
  FLAG_STOP,
  getDecision,
  getDecisionFigures,
  governanceInForce,
  listDecisions,
  type ListedDecision,
  listStops,
  recordDecisions,
  removeStop,
  type Stop,
  stopFor,
  type StopSubject,
} from "./governance.ts";
export {
  beginIdempotentCall,
  type CallClaim,
  claimCall,
  endIdempotentCall,
  failIdempotentCall,
  getIdempotentCall,
  type KeptCall,
  type KeptEnd,
  type KeptError,
  pruneIdempotentCalls,
  takeOverCall,
} from "./idempotent_calls.ts";
export {
  openUsageMeter,
  pruneUsage,
  type UsageCount,
  type UsageMeter,
  type Use,
} from "./limits.ts";
export {
  type AbandonedCall,
  listAbandonedCalls,
  listOverdueHeldCalls,
  settleCall,
  settleEndedCalls,
} from "./open_calls.ts";
export { countDecisions, listPastDecisions, searchDecisions } from "./past_decisions.ts";
export {
  currentPolicy,
  holdPolicies,
  listPolicyVersions,
  type PolicyChange,
  type PolicyTable,
  type PolicyVersion,
  setPolicy,
} from "./policies.ts";

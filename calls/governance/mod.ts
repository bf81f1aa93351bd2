/**
 * Governance: evaluates every call that changes something against stops, the policy's rules and the guardrails.
 *
 * ```ts
 * const evaluation = await evaluate(platform, call, stops, policy.rules);
 * await recordDecision({ call, evaluation: recorded, runs: true });
 * ```
 *
 * Trusts: the policy and the stops in the store. Doesn't trust: what a call claims about itself.
 * @module
 */
export { asJson, openDecisionRecorder, putOnRecord } from "./decision_record.ts";
export type { RecordedEvaluation } from "./decision_record.ts";
export {
  type AnsweredEvaluation,
  baseOf,
  decisionOf,
  governedOutput,
  withDecision,
} from "./decision.ts";
export { approversByRules, evaluate, evaluateAgain } from "./evaluate.ts";
export { isModelAllowed } from "./model_rules.ts";
export {
  applyGovernanceText,
  checkGovernanceFile,
  followGovernanceFile,
  governanceFileOf,
} from "./governance_file.ts";
export { targetFieldOf, targetOf } from "./guardrails.ts";
export { nameError, suggestion, unknownNamesIn } from "./names.ts";
export { openPolicyCache } from "./policy_cache.ts";
export { readGovernanceFile } from "./policy_file.ts";
export {
  GOVERNANCE_POLICY,
  governanceFileSchema,
  governanceVersion,
  NO_RULES,
  readGovernancePolicy,
} from "./policy.ts";
export { type Outcome, type PastCall, replayRules } from "./replay.ts";
export { isWithinHours, ruleFor } from "./rules.ts";

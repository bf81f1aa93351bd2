/**
 * The guardrails: they judge whether a proposed action is allowed, needs a person's approval, or is denied.
 *
 * ```ts
 * const guard = openGuard({ store });
 * const { approved, decision, rails } = await guard.validate({ incident, action });
 * ```
 *
 * Trusts the store for policies, services and tickets, and nothing that a request says of itself. Fails closed: treat an
 * error as denied.
 * @module
 */
export { type Guard, judgeAction, openGuard } from "./guard.ts";
export { findInjection, findPromptInjection } from "./injection.ts";
export { DEFAULT_POLICY, policyVersionName, readPolicy } from "./policy.ts";
export { checkPolicyFile, followPolicyFile, policyFilePath, putPolicyFile } from "./policy_file.ts";
export { EMPTY_STATE } from "./_state.ts";
export {
  findPersonal,
  findSecrets,
  findTricks,
  instructsJudge,
  locatePersonal,
  locateSecrets,
  type PrivateSpan,
} from "./text/mod.ts";
export { type GuardVerdict, type ProposedAction, RAILS, type ValidateRequest } from "./types.ts";

/**
 * The guardrails: whether a proposed action may be done, must be shown to a person first, or is refused.
 *
 * ```ts
 * const guard = openGuard({ store });
 * const { approved, decision, rails } = await guard.validate({ incident, action });
 * ```
 *
 * Trusts the store for policies, services and tickets; trusts nothing that a request says of itself. Fails closed:
 * whatever is thrown is a refusal.
 * @module
 */
export { findInjection } from "./inspect.ts";
export { type Guard, openGuard } from "./guard.ts";
export { DEFAULT_POLICY, type Policy, readPolicy, versionName } from "./policy.ts";
export { DECISIONS, RAILS } from "./types.ts";
export type {
  Decision,
  GuardVerdict,
  ProposedAction,
  RailName,
  RailVerdict,
  ValidateRequest,
} from "./types.ts";
export { followPolicyFile } from "./policy_in_force.ts";

/** Decisions of a policy, most permissive first. */
export const DECISIONS = ["allow", "needs_approval", "deny"] as const;

/** A decision of governance or of the guardrails: it is done, people are asked first, or it is refused. */
export type Decision = typeof DECISIONS[number];

/** Returns the stricter of two decisions. */
export function stricter(a: Decision, b: Decision): Decision {
  return DECISIONS.indexOf(a) >= DECISIONS.indexOf(b) ? a : b;
}

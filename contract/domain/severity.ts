/** Degrees of harm, least first. */
export const SEVERITIES = ["low", "medium", "high", "critical"] as const;

/**
 * Severity of an incident: `critical` a core service is down or an attack is under way, for many users; `high` badly
 * degraded or soon down; `medium` some users, or a workaround exists; `low` cosmetic, a request, not urgent.
 */
export type Severity = typeof SEVERITIES[number];

/** Returns the worse of two severities. */
export function worse(a: Severity, b: Severity): Severity {
  return SEVERITIES.indexOf(a) >= SEVERITIES.indexOf(b) ? a : b;
}

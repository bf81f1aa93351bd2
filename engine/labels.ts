/** What a report can be about, and how bad it can be. */

/** Fields in which incidents lie, in the order in which tables show them. */
export const CATEGORIES = [
  "network",
  "dns",
  "certificate",
  "database",
  "storage",
  "compute",
  "application",
  "deployment",
  "configuration",
  "security",
  "identity",
  "dependency",
  "messaging",
  "hardware",
  "backup",
  "other",
] as const;

/** A field in which an incident lies. */
export type Category = (typeof CATEGORIES)[number];

/** Degrees of harm, the least first. */
export const SEVERITIES = ["low", "medium", "high", "critical"] as const;

/**
 * `critical` a core service down or an attack under way, for many; `high` badly degraded or soon down; `medium` some
 * users, or a workaround holds; `low` cosmetic, a request, no hurry.
 */
export type Severity = (typeof SEVERITIES)[number];
